/* Reads termination messages; see step/message.h. The container wrote the message, so it is not
 * trusted: it is treated as text and truncated, and links are not followed. */
#include "node/step/message.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "node/log/container_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* LOG_BYTES and LOG_LINES are the kubelet's limits for a message from the log. LOG_READ is the
 * number of bytes that are read at the end of the log file. */
enum { LOG_BYTES = 2048, LOG_LINES = 80, LOG_READ = 64 * 1024 };

int step_message_prepare(const char *directory, const char *container, struct err *err)
{
    _cleanup_free_ char *path = pod_message_path(directory, container);
    _cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0 || fchmod(fd, 0666) < 0)
        return err_set_errno(err, errno, "cannot make '%s'", path);
    return 0;
}

/* Reads the end of the file, from the beginning of a line. */
static void read_end(const char *path, struct buf *text)
{
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) < 0)
        return;
    off_t start = info.st_size > LOG_READ ? info.st_size - LOG_READ : 0;
    char *room = buf_reserve(text, LOG_READ);
    ssize_t got = pread(fd, room, LOG_READ, start);
    buf_commit(text, got > 0 ? (size_t)got : 0);
    char *newline = start ? memchr(text->data, '\n', text->size) : NULL;
    if (newline)
        buf_consume(text, (size_t)(newline + 1 - text->data));
}

/* Returns the beginning of the last LOG_LINES lines, or of the last LOG_BYTES bytes if these lines
 * are longer. */
static const char *last_lines(const struct buf *text)
{
    const char *at = text->data + text->size, *stop = text->data;
    int lines = 0;
    if (text->size > LOG_BYTES)
        stop = at - LOG_BYTES;
    for (; at > stop; at--)
        if (at[-1] == '\n' && at != text->data + text->size && ++lines == LOG_LINES)
            break;
    return at;
}

/* Copies a text into a message and drops its NUL bytes, because the message ends with the first. */
static void copy_text(const char *text, size_t size, char ret[POD_TERMINATION_MESSAGE_MAX + 1])
{
    size_t used = 0;
    for (size_t i = 0; i < size && used < POD_TERMINATION_MESSAGE_MAX; i++)
        if (text[i] != '\0')
            ret[used++] = text[i];
    ret[used] = '\0';
}

void step_message_read_log(const char *directory, const char *container, int64_t run,
                           char ret[POD_TERMINATION_MESSAGE_MAX + 1])
{
    _cleanup_free_ char *path = pod_log_path(directory, container, run);
    _cleanup_buf_ struct buf records, text;
    buf_init(&records, LOG_READ);
    buf_init(&text, LOG_READ);
    read_end(path, &records);
    const char *stop = records.data + records.size;
    for (const char *line = records.data, *end; (end = memchr(line, '\n', (size_t)(stop - line)));
         line = end + 1) {
        struct node_log_record record;
        if (!node_log_record_parse(line, (size_t)(end - line), &record))
            continue;
        buf_append(&text, record.text, record.text_size);
        if (record.is_full)
            buf_append_char(&text, '\n');
    }
    const char *last = last_lines(&text);
    copy_text(last, (size_t)(text.data + text.size - last), ret);
}

void step_message_read(const char *directory, const struct pod_container *container, int64_t run,
                       int exit_code, char ret[POD_TERMINATION_MESSAGE_MAX + 1])
{
    _cleanup_free_ char *path = pod_message_path(directory, container->name);
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char text[POD_TERMINATION_MESSAGE_MAX];
    ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof(text));
    copy_text(text, size > 0 ? (size_t)size : 0, ret);
    if (ret[0] == '\0' && exit_code != 0 && container->message_from_log)
        step_message_read_log(directory, container->name, run, ret);
}
