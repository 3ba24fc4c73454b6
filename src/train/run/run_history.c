/* Implements the history file of a run; see run_history.h. */
#include "train/run/run_history.h"

#include "base/mem.h"
#include "base/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { LINE_MAX_BYTES = 1 << 20 };

struct run_history {
    int fd;
    char *path;
};

static char *path_in(const char *directory)
{
    return mem_printf("%s/%s", directory, RUN_HISTORY_FILE);
}

/* Terminates the last line if a crash cut it off, so that the next line stays readable. */
static int end_last_line(int fd)
{
    char last = '\n';
    off_t size = lseek(fd, 0, SEEK_END);
    if (size <= 0 || pread(fd, &last, 1, size - 1) != 1 || last == '\n')
        return size < 0 ? -1 : 0;
    return write(fd, "\n", 1) == 1 ? 0 : -1;
}

int run_history_open(const char *directory, struct run_history **ret, struct err *err)
{
    int result = file_make_dirs(directory, 0755, err);
    if (result < 0)
        return result;
    _cleanup_free_ char *path = path_in(directory);
    _cleanup_fd_ int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0 || end_last_line(fd) < 0)
        return err_set_errno(err, errno, "cannot write '%s'", path);
    struct run_history *history = mem_zalloc(sizeof(*history));
    history->fd = TAKE_FD(fd);
    history->path = TAKE(path);
    *ret = history;
    return 0;
}

struct run_history *run_history_close(struct run_history *history)
{
    if (!history)
        return NULL;
    close(history->fd);
    free(history->path);
    free(history);
    return NULL;
}

int run_history_add(struct run_history *history, const struct json *line, struct err *err)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, LINE_MAX_BYTES);
    json_write(line, &text);
    buf_append_char(&text, '\n');
    if (text.overflowed)
        return err_set(err, ERR_TOO_LARGE, "cannot write '%s': a line is longer than %d bytes",
                       history->path, LINE_MAX_BYTES);
    ssize_t written = write(history->fd, text.data, text.size);
    if (written == (ssize_t)text.size)
        return 0;
    int problem = written < 0 ? errno : ENOSPC;
    if (written > 0) /* removes the incomplete line */
        (void)ftruncate(history->fd, lseek(history->fd, 0, SEEK_END) - written);
    return err_set_errno(err, problem, "cannot write '%s'", history->path);
}

int run_history_read(struct arena *arena, const char *directory, struct json **ret_lines,
                     size_t *ret_unread, struct err *err)
{
    _cleanup_free_ char *path = path_in(directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, RUN_HISTORY_MAX);
    int result = file_exists(path) ? file_read(path, &text, err) : 0;
    if (result < 0)
        return result;
    *ret_lines = run_history_parse(arena, text.data, text.size, ret_unread);
    return 0;
}

/* Finds the end of a line with memchr(), because a crash of the machine may leave NUL bytes. */
struct json *run_history_parse(struct arena *arena, const char *text, size_t size,
                               size_t *ret_unread)
{
    struct json *lines = json_array(arena);
    size_t unread = 0, at = 0;
    for (const char *end; at < size && (end = memchr(text + at, '\n', size - at));
         at = (size_t)(end - text) + 1) {
        struct json *line = NULL;
        if (json_parse(arena, text + at, (size_t)(end - text) - at, NULL, &line, NULL) == 0 &&
            line->type == JSON_OBJECT)
            json_append(lines, line);
        else
            unread++;
    }
    *ret_unread = unread;
    return lines;
}
