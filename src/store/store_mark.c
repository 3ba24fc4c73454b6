/* Reads and writes the mark, the revision of the newest committed change; see store_mark.h. Only
 * store_mark_open() reports an error. The other functions ignore errors, because the mark only
 * helps to detect damage and the store works without it. */
#include "store/store_mark.h"

#include "base/hash.h"
#include "base/mem.h"

#include <endian.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct mark {
    uint64_t revision, check; /* little-endian */
};

static struct mark make_mark(int64_t revision)
{
    uint64_t value = (uint64_t)revision;
    return (struct mark){.revision = htole64(value), .check = htole64(hash_mix(value + 1))};
}

int store_mark_open(const char *database_path)
{
    char *path = mem_printf("%s-acknowledged", database_path);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    free(path);
    return fd;
}

int64_t store_mark_read(int fd)
{
    struct mark mark;
    if (fd < 0 || pread(fd, &mark, sizeof(mark), 0) != sizeof(mark))
        return 0;
    int64_t revision = (int64_t)le64toh(mark.revision);
    return make_mark(revision).check == mark.check && revision > 0 ? revision : 0;
}

void store_mark_write(int fd, int64_t revision)
{
    const struct mark mark = make_mark(revision);
    if (fd < 0)
        return;
    ssize_t written = pwrite(fd, &mark, sizeof(mark), 0);
    (void)written;
}
