/* Logging to stderr; see log.h. */
#include "base/log.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/moment.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    MESSAGE_MAX = 8 * 1024,     /* bytes; a longer message is cut */
    LINE_MAX_BYTES = 64 * 1024, /* escaped, six bytes for one at worst */
};

static enum log_level max_level = LOG_INFO;
static enum log_format line_format = LOG_AUTO;

static const char *const LEVEL_NAMES[] = {"error", "warning", "info", "debug"};

void log_setup(enum log_level level, enum log_format format)
{
    max_level = level;
    line_format = format;
}

static void append_json_string(struct buf *line, const char *text)
{
    const struct json string = {.type = JSON_STRING, .text = text, .size = strlen(text)};
    json_write(&string, line);
}

void log_write(enum log_level level, const char *subject, const char *format, ...)
{
    if (level > max_level)
        return;
    _cleanup_buf_ struct buf line;
    buf_init(&line, LINE_MAX_BYTES);
    char message[MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);

    char now[MOMENT_TEXT_MAX];
    moment_format_micro(moment_wall_ms() * 1000, now);
    enum log_format wanted = line_format;
    if (wanted == LOG_AUTO)
        wanted = isatty(STDERR_FILENO) ? LOG_TEXT : LOG_JSON;
    if (wanted == LOG_JSON) {
        buf_printf(&line, "{\"time\":\"%s\",\"level\":\"%s\",\"subject\":", now,
                   LEVEL_NAMES[level]);
        append_json_string(&line, subject);
        buf_append_str(&line, ",\"message\":");
        append_json_string(&line, message);
        buf_append_str(&line, "}\n");
    } else {
        buf_printf(&line, "%.12s %s%s: %s\n", now + 11,
                   level <= LOG_WARNING ? (level == LOG_ERROR ? "error: " : "warning: ") : "",
                   subject, message);
    }
    /* One write a line, so that lines of several threads and processes do not mix. */
    ssize_t written = write(STDERR_FILENO, line.data, line.size);
    (void)written;
}
