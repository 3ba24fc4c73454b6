/* Writes the log files of a container; see step/log.h. */
#include "node/step/log.h"

#include "node/log/container_log.h"
#include "node/pod/record/state.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOSS_LINE_MAX = 256 };

void step_log_init(struct step_log *log)
{
    *log = (struct step_log){.fd = -1};
}

static int open_file(struct step_log *log, struct err *err)
{
    log->fd = open(log->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (log->fd < 0)
        return err_set_errno(err, errno, "cannot open log '%s'", log->path);
    log->size = lseek(log->fd, 0, SEEK_END);
    return 0;
}

int step_log_open(struct step_log *log, const char *directory, const char *container, int64_t run,
                  struct err *err)
{
    step_log_close(log);
    log->path = pod_log_path(directory, container, run);
    return open_file(log, err);
}

/* Renames the current file and begins a new one. Removes the oldest file if there are too many, so
 * that a container cannot fill the disk with output. */
static void rotate_log(struct step_log *log)
{
    _cleanup_free_ char *aside = mem_printf("%s.%lld", log->path, (long long)log->parts + 1);
    if (rename(log->path, aside) < 0)
        return;
    log->parts++;
    close(log->fd);
    (void)open_file(log, NULL);
    if (log->parts >= LOG_FILES_MAX) {
        _cleanup_free_ char *oldest =
            mem_printf("%s.%lld", log->path, (long long)log->parts - LOG_FILES_MAX + 1);
        unlink(oldest);
    }
}

/* Writes all of the data or nothing: after a partial record, the next record could not be read
 * either. */
static bool step_log_append(struct step_log *log, const void *data, size_t size)
{
    if (log->fd >= 0 && file_write_all(log->fd, data, size, NULL) == 0) {
        log->size += (int64_t)size;
        return true;
    }
    if (log->fd >= 0 && ftruncate(log->fd, log->size) < 0)
        log->size = lseek(log->fd, 0, SEEK_END);
    return false;
}

/* Writes a line that says how many bytes are missing. */
static void log_write_loss(struct step_log *log)
{
    struct timespec now;
    struct tm utc;
    char text[LOSS_LINE_MAX], when[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &utc);
    int size = snprintf(text, sizeof(text),
                        "%s.%09ldZ stderr F trainyard: %lld bytes of the log are missing here "
                        "because the disk was full\n",
                        when, now.tv_nsec, (long long)log->lost);
    if (step_log_append(log, text, (size_t)size))
        log->lost = 0;
}

void step_log_close(struct step_log *log)
{
    if (log->fd >= 0 && log->lost)
        log_write_loss(log);
    if (log->fd >= 0)
        close(log->fd);
    free(log->path);
    step_log_init(log);
}

void step_log_write(struct step_log *log, const struct buf *records)
{
    if (!records->size || !log->path)
        return;
    /* The previous attempt failed: no descriptor was free, or the disk was full. */
    if (log->fd < 0)
        (void)open_file(log, NULL);
    if (log->size > LOG_FILE_MAX)
        rotate_log(log);
    if (log->lost)
        log_write_loss(log);
    if (log->lost || !step_log_append(log, records->data, records->size))
        log->lost += (int64_t)records->size;
}

void step_log_remove(const char *directory, const char *container, int64_t run)
{
    _cleanup_free_ char *path = pod_log_path(directory, container, run);
    char *name = strrchr(path, '/');
    *name++ = '\0';
    DIR *entries = opendir(path);
    size_t size = strlen(name);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (strncmp(entry->d_name, name, size) == 0 &&
            (entry->d_name[size] == '\0' || entry->d_name[size] == '.'))
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
}
