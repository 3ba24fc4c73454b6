/* Reserves disk space for the next start; see state_reserve.h. */
#include "cli/trainyard/state_reserve.h"

#include "base/cleanup.h"
#include "base/system/file.h"
#include "store/store_reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    RESERVE = 1024 * 1024, /* bytes; a start writes less than 100 KiB */
    /* Bytes that the first start needs. It also writes objects, so the store must have its reserve
     * and some more free space. */
    RESERVE_FIRST = STORE_RESERVE_LOG + STORE_RESERVE_DATABASE + STORE_RESERVE_AGAIN,
};

/* Sets *ret_free to the free bytes and returns whether they are enough. */
static bool state_has_space(const struct state_dir *state, uint64_t needed, uint64_t *ret_free)
{
    struct statvfs disk;
    if (statvfs(state->path, &disk) < 0 || disk.f_blocks == 0)
        return true; /* the free space is unknown */
    *ret_free = (uint64_t)disk.f_bavail * disk.f_frsize;
    return *ret_free >= needed;
}

int state_reserve_use(const struct state_dir *state, struct err *err)
{
    uint64_t needed = file_exists(state->database) ? RESERVE : RESERVE_FIRST, left = 0;
    if (state_has_space(state, needed, &left))
        return 0;
    unlink(state->reserve);
    if (state_has_space(state, needed, &left))
        return 0;
    err_set(err, ERR_IO,
            "the disk of '%s' is full: %llu bytes are free, and a start needs %llu; delete files "
            "on this disk, or use a directory on another disk with --state DIR",
            state->path, (unsigned long long)left, (unsigned long long)needed);
    err->sys = ENOSPC;
    return -ERR_IO;
}

void state_reserve_keep(const struct state_dir *state)
{
    _cleanup_fd_ int fd = open(state->reserve, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0 && fallocate(fd, 0, 0, RESERVE) < 0)
        unlink(state->reserve);
}
