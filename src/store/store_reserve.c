/* Disk space that is reserved for deletions; see store_reserve.h. */
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
    STEP = 1024 * 1024,
    /* If fewer bytes are free, the disk counts as full until STORE_RESERVE_AGAIN bytes are free. */
    FREE_LEAST = 1024 * 1024,
};

static const char MARK[] = "-full";

void store_reserve_init(struct store_reserve *reserve, int database, const char *path)
{
    *reserve = (struct store_reserve){.database = database, .log = -1};
    reserve->mark = mem_printf("%s%s", path, MARK);
}

void store_reserve_open_log(struct store_reserve *reserve, const char *path)
{
    _cleanup_free_ char *log = mem_printf("%s-wal", path);
    reserve->log = open(log, O_RDWR | O_CLOEXEC);
    unlink(reserve->mark); /* left by an earlier process that ended while the disk was full */
}

void store_reserve_release(struct store_reserve *reserve)
{
    if (reserve->database >= 0)
        close(reserve->database);
    if (reserve->log >= 0)
        close(reserve->log);
    if (reserve->has_mark)
        unlink(reserve->mark);
    free(reserve->mark);
    *reserve = (struct store_reserve){.database = -1, .log = -1};
}

static bool is_full(int result)
{
    return result < 0 && (errno == ENOSPC || errno == EDQUOT);
}

static bool keep_log(struct store_reserve *reserve)
{
    if (reserve->log < 0 || reserve->log_held)
        return true;
    if (is_full(fallocate(reserve->log, FALLOC_FL_KEEP_SIZE, 0, STORE_RESERVE_LOG)))
        return false;
    reserve->log_held = true;
    return true;
}

static bool keep_database(struct store_reserve *reserve)
{
    struct stat info;
    if (reserve->database < 0 || fstat(reserve->database, &info) < 0 ||
        reserve->database_held - info.st_size > STORE_RESERVE_DATABASE - STEP)
        return true;
    if (is_full(fallocate(reserve->database, FALLOC_FL_KEEP_SIZE, info.st_size,
                          STORE_RESERVE_DATABASE)))
        return false;
    reserve->database_held = info.st_size + STORE_RESERVE_DATABASE;
    return true;
}

/* Whether the disk has free space besides the reserve. If another program fills the disk, this
 * function detects it before the reserve is used up. */
static bool reserve_has_space(const struct store_reserve *reserve)
{
    struct statvfs disk;
    if (reserve->database < 0 || fstatvfs(reserve->database, &disk) < 0 || disk.f_blocks == 0)
        return true;
    return disk.f_bavail * disk.f_frsize >= (reserve->has_mark ? STORE_RESERVE_AGAIN : FREE_LEAST);
}

static void set_mark(struct store_reserve *reserve, bool full)
{
    if (full && !reserve->has_mark) {
        int fd = open(reserve->mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0)
            close(fd);
        reserve->has_mark = fd >= 0;
    } else if (!full && reserve->has_mark) {
        unlink(reserve->mark);
        reserve->has_mark = false;
    }
}

bool store_reserve_keep(struct store_reserve *reserve)
{
    bool kept = keep_log(reserve) && keep_database(reserve) && reserve_has_space(reserve);
    set_mark(reserve, !kept);
    return kept;
}

bool store_reserve_is_spent(struct arena *arena, const char *path)
{
    return access(arena_printf(arena, "%s%s", path, MARK), F_OK) == 0;
}
