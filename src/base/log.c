/* Writes log lines to stderr; see log.h. */
#include "base/log.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/moment.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    MESSAGE_MAX = 8 * 1024,     /* bytes; a longer message is truncated */
    LINE_MAX_BYTES = 64 * 1024, /* JSON escapes a byte of the message as up to six bytes */
};

static enum log_level max_level = LOG_INFO;
static enum log_format line_format = LOG_AUTO;

static const char *const LEVEL_NAMES[] = {"error", "warning", "info", "debug"};

void log_setup(enum log_level level, enum log_format format)
{
    max_level = level;
    line_format = format;
}

static bool is_json(void)
{
    return line_format == LOG_JSON || (line_format == LOG_AUTO && !isatty(STDERR_FILENO));
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
    if (is_json()) {
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
    /* One write() per line, so that lines of several threads and processes do not mix. */
    ssize_t written = write(STDERR_FILENO, line.data, line.size);
    (void)written;
}

/* ---- Logging from a signal handler ----------------------------------------------------------- */

struct crash_text {
    char data[MESSAGE_MAX];
    size_t size;
};

static void crash_text_add_char(struct crash_text *text, char letter)
{
    if (text->size < sizeof(text->data))
        text->data[text->size++] = letter;
}

static void crash_text_add(struct crash_text *text, const char *more)
{
    for (; *more; more++)
        crash_text_add_char(text, *more);
}

/* Replaces quotes, backslashes and control characters, which JSON would escape, by '?'. Where char
 * is signed, as on x86-64, also replaces all bytes outside ASCII. The text comes from this program
 * and rarely has such characters. */
static void crash_text_add_clean(struct crash_text *text, const char *more)
{
    for (; *more; more++)
        crash_text_add_char(text, *more == '"' || *more == '\\' || *more < ' ' ? '?' : *more);
}

static void crash_text_add_digits(struct crash_text *text, int64_t value, int count)
{
    char digits[20];
    for (int i = count; i-- > 0; value /= 10)
        digits[i] = (char)('0' + value % 10);
    for (int i = 0; i < count; i++)
        crash_text_add_char(text, digits[i]);
}

/* Computes the date without gmtime_r(), which takes a lock. The year starts on 1 March here, so
 * that a leap day is its last day. */
static void crash_text_add_date(struct crash_text *text, int64_t seconds)
{
    int64_t days = seconds / 86400 + 719468, era = days / 146097, of_era = days % 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted = (5 * of_year + 2) / 153, day = of_year - (153 * shifted + 2) / 5 + 1;
    int64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
    crash_text_add_digits(text, era * 400 + year_of_era + (month <= 2), 4);
    crash_text_add_char(text, '-');
    crash_text_add_digits(text, month, 2);
    crash_text_add_char(text, '-');
    crash_text_add_digits(text, day, 2);
}

static void crash_text_add_time(struct crash_text *text, const struct timespec *now)
{
    const int64_t parts[] = {now->tv_sec / 3600 % 24, now->tv_sec / 60 % 60, now->tv_sec % 60};
    for (size_t i = 0; i < 3; i++) {
        crash_text_add(text, i ? ":" : "");
        crash_text_add_digits(text, parts[i], 2);
    }
    crash_text_add_char(text, '.');
    crash_text_add_digits(text, now->tv_nsec / 1000000, 3);
}

void log_write_crash(const char *subject, const char *message)
{
    struct crash_text line = {.size = 0};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    bool json = is_json();
    if (json) {
        crash_text_add(&line, "{\"time\":\"");
        crash_text_add_date(&line, now.tv_sec);
        crash_text_add_char(&line, 'T');
    }
    crash_text_add_time(&line, &now);
    crash_text_add(&line, json ? "000Z\",\"level\":\"error\",\"subject\":\"" : " error: ");
    crash_text_add_clean(&line, subject);
    crash_text_add(&line, json ? "\",\"message\":\"" : ": ");
    crash_text_add_clean(&line, message);
    line.size = line.size < sizeof(line.data) - 3 ? line.size : sizeof(line.data) - 3;
    crash_text_add(&line, json ? "\"}\n" : "\n");
    ssize_t written = write(STDERR_FILENO, line.data, line.size);
    (void)written;
}
