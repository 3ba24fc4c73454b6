/* Allocates the disk space that is reserved for deletions; see store_reserve.h. */
#include "store/store_reserve.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    /* Number of bytes of the reserve that may be used before they are allocated again. */
    REFILL_STEP = 1024 * 1024,
    /* If fewer bytes are free, the disk counts as full until STORE_RESERVE_AGAIN bytes are free. */
    FREE_LEAST = 1024 * 1024,
};

static const char FULL_SUFFIX[] = "-full";

void store_reserve_init(struct store_reserve *reserve, int database, const char *path)
{
    *reserve = (struct store_reserve){.database = database, .log = -1};
    reserve->full_file = mem_printf("%s%s", path, FULL_SUFFIX);
}

void store_reserve_open_log(struct store_reserve *reserve, const char *path)
{
    _cleanup_free_ char *log = mem_printf("%s-wal", path);
    reserve->log = open(log, O_RDWR | O_CLOEXEC);
    unlink(reserve->full_file); /* left by an earlier process that ended while the disk was full */
}

void store_reserve_release(struct store_reserve *reserve)
{
    if (reserve->database >= 0)
        close(reserve->database);
    if (reserve->log >= 0)
        close(reserve->log);
    if (reserve->has_full_file)
        unlink(reserve->full_file);
    free(reserve->full_file);
    *reserve = (struct store_reserve){.database = -1, .log = -1};
}

static bool is_full(int result)
{
    return result < 0 && (errno == ENOSPC || errno == EDQUOT);
}

static bool reserve_log(struct store_reserve *reserve)
{
    if (reserve->log < 0 || reserve->log_tried)
        return true;
    if (is_full(fallocate(reserve->log, FALLOC_FL_KEEP_SIZE, 0, STORE_RESERVE_LOG)))
        return false;
    reserve->log_tried = true;
    return true;
}

static bool reserve_database(struct store_reserve *reserve)
{
    struct stat info;
    if (reserve->database < 0 || fstat(reserve->database, &info) < 0 ||
        reserve->database_end - info.st_size > STORE_RESERVE_DATABASE - REFILL_STEP)
        return true;
    if (is_full(fallocate(reserve->database, FALLOC_FL_KEEP_SIZE, info.st_size,
                          STORE_RESERVE_DATABASE)))
        return false;
    reserve->database_end = info.st_size + STORE_RESERVE_DATABASE;
    return true;
}

/* Returns whether the disk has free space besides the reserve. If another program fills the disk,
 * this function detects it before the reserve is used up. */
static bool reserve_has_space(const struct store_reserve *reserve)
{
    struct statvfs disk;
    if (reserve->database < 0 || fstatvfs(reserve->database, &disk) < 0 || disk.f_blocks == 0)
        return true;
    return disk.f_bavail * disk.f_frsize >=
           (reserve->has_full_file ? STORE_RESERVE_AGAIN : FREE_LEAST);
}

static void reserve_report_full(struct store_reserve *reserve, bool full)
{
    if (full && !reserve->has_full_file) {
        int fd = open(reserve->full_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0)
            close(fd);
        reserve->has_full_file = fd >= 0;
    } else if (!full && reserve->has_full_file) {
        unlink(reserve->full_file);
        reserve->has_full_file = false;
    }
}

bool store_reserve_refill(struct store_reserve *reserve)
{
    bool refilled = reserve_log(reserve) && reserve_database(reserve) && reserve_has_space(reserve);
    reserve_report_full(reserve, !refilled);
    return refilled;
}

bool store_reserve_is_spent(struct arena *arena, const char *path)
{
    return access(arena_printf(arena, "%s%s", path, FULL_SUFFIX), F_OK) == 0;
}
