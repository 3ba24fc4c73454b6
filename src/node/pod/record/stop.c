/* Writes and reads the stop request and the changed deadline; see pod/record/stop.h. */
#include "node/pod/record/stop.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/pod/record/record.h"
#include "node/pod/record/record_rows.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

enum { STOP_MAX = 256 + 6 * POD_MESSAGE_MAX };

static const struct record_row STOP_ROWS[] = {
    RECORD_ROW_INT64(struct pod_stop, grace_ms, "grace", 0, INT_MAX),
    RECORD_ROW_CHARS(struct pod_stop, reason, "reason"),
    RECORD_ROW_CHARS(struct pod_stop, message, "message"),
};
static const struct record_table STOP_TABLE = RECORD_TABLE(STOP_ROWS);

/* The names of the mark files. */
static const char PAUSED[] = "paused", EVICTED[] = "evicted", DELETED[] = "deleted";

static void stop_mark(const char *directory, const char *name)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

static bool stop_is_marked(const char *directory, const char *name)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, name);
    return file_exists(path);
}

void pod_pause_clear(const char *directory)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, PAUSED);
    unlink(path);
}

int pod_stop_store(const char *directory, const struct pod_stop *stop, struct err *err)
{
    if (stop->pause)
        stop_mark(directory, PAUSED);
    if (str_eq(stop->reason, "Evicted"))
        stop_mark(directory, EVICTED);
    if (stop->deleted)
        stop_mark(directory, DELETED);
    _cleanup_free_ char *path = mem_printf("%s/stop", directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, STOP_MAX);
    record_rows_write(&STOP_TABLE, stop, &text);
    return file_replace(path, text.data, text.size, 0600, err);
}

static int stop_load_request(const char *directory, struct pod_stop *ret, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/stop", directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, STOP_MAX);
    int result = file_read(path, &text, err);
    if (result < 0)
        return result;
    struct pod_stop stop = {0};
    struct record_reader reader;
    record_reader_init(&reader, text.data, text.size);
    const char *key;
    char *value;
    while ((result = record_next(&reader, &key, &value, err)) > 0)
        if (record_rows_read(&STOP_TABLE, NULL, &stop, key, value, err) < 0)
            return err_wrap(err, "'%s'", path);
    if (result == 0)
        *ret = stop;
    return result;
}

void pod_stop_load(const char *directory, struct pod_stop *ret)
{
    (void)stop_load_request(directory, ret, NULL);
    ret->pause = stop_is_marked(directory, PAUSED);
    ret->deleted = stop_is_marked(directory, DELETED);
    if (!ret->reason[0] && stop_is_marked(directory, EVICTED)) {
        str_copy(ret->reason, sizeof(ret->reason), "Evicted");
        str_copy(ret->message, sizeof(ret->message),
                 "The pod exceeded a disk limit. The exceeded limit could not be recorded, because "
                 "the disk was full. ");
    }
}

void pod_stop_tell(int supervisor_pidfd)
{
    siginfo_t info = {.si_signo = SIGTERM, .si_code = SI_QUEUE};
    info.si_pid = getpid();
    info.si_uid = getuid();
    (void)pidfd_send_signal(supervisor_pidfd, SIGTERM, &info, 0);
}

bool pod_stop_is_told(int signal_code)
{
    return signal_code == SI_QUEUE;
}

int pod_deadline_store(const char *directory, int64_t wall_ms, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/deadline", directory);
    _cleanup_free_ char *text = mem_printf("%lld", (long long)wall_ms);
    return file_replace(path, text, strlen(text), 0600, err);
}

int pod_deadline_load(const char *directory, int64_t *ret_wall_ms, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/deadline", directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, STOP_MAX);
    int result = file_read(path, &text, err);
    return result < 0 ? result : str_to_int64(text.data, 1, INT64_MAX, ret_wall_ms, err);
}
