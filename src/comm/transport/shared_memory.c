/* Implements memory that processes of one machine can share; see shared_memory.h. */
#include "comm/transport/shared_memory.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Creates a memfd of `size` bytes and maps it at `where`, replacing the mapping there. If `where`
 * is NULL, the kernel chooses the address. */
static int shared_memory_create_fd(const char *name, size_t size, void *where, int *ret_fd,
                                   void **ret_at, struct err *err)
{
    _cleanup_fd_ int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, (off_t)size) < 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        return err_set_errno(err, errno, "cannot make %zu bytes of shared memory", size);
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return err_set_errno(err, errno, "cannot map %zu bytes of shared memory", size);
    if (where && mremap(at, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, where) != where) {
        int failed = errno;
        munmap(at, size);
        return err_set_errno(err, failed, "cannot map %zu bytes of shared memory in place", size);
    }
    (void)madvise(where ? where : at, size,
                  MADV_HUGEPAGE); /* a failure only makes the memory slower */
    *ret_at = where ? where : at;
    *ret_fd = TAKE_FD(fd);
    return 0;
}

int shared_memory_new(const char *name, size_t size, struct shared_memory **ret, struct err *err)
{
    int fd;
    void *at;
    if (size == 0)
        return err_set(err, ERR_INVALID, "shared memory must have at least 1 byte");
    int result = shared_memory_create_fd(name, size, NULL, &fd, &at, err);
    if (result < 0)
        return result;
    struct shared_memory *memory = mem_zalloc(sizeof(*memory));
    *memory = (struct shared_memory){.at = at, .size = size, .fd = fd};
    *ret = memory;
    return 0;
}

struct shared_memory *shared_memory_free(struct shared_memory *memory)
{
    if (!memory)
        return NULL;
    munmap(memory->at, memory->size);
    close(memory->fd);
    free(memory);
    return NULL;
}

int shared_memory_renew(struct shared_memory *memory, struct err *err)
{
    int fd;
    void *at;
    int result = shared_memory_create_fd("renewed", memory->size, memory->at, &fd, &at, err);
    if (result < 0)
        return result;
    close(memory->fd);
    memory->fd = fd;
    memory->was_shared = false;
    return 0;
}

/* On older kernels without MADV_POPULATE_WRITE, posix_fallocate() reserves the memory. */
int shared_memory_populate(struct shared_memory *memory, struct err *err)
{
    int failed = 0;
    if (madvise(memory->at, memory->size, MADV_POPULATE_WRITE) < 0)
        failed = errno == EINVAL ? posix_fallocate(memory->fd, 0, (off_t)memory->size) : errno;
    return failed ? err_set_errno(err, failed, "cannot allocate %zu bytes of shared memory",
                                  memory->size)
                  : 0;
}

int shared_memory_map_peer(int fd, size_t size, void **ret, struct err *err)
{
    struct stat stat;
    int seals = fcntl(fd, F_GET_SEALS);
    if (fstat(fd, &stat) < 0 || seals < 0)
        return err_set_errno(err, errno, "a peer's descriptor is not shared memory");
    if (!(seals & F_SEAL_SHRINK) || (size_t)stat.st_size < size)
        return err_set(
            err, ERR_INVALID,
            "a peer's shared memory has %lld bytes and %s, but it must have at least %zu "
            "bytes and a fixed size",
            (long long)stat.st_size, seals & F_SEAL_SHRINK ? "cannot shrink" : "can shrink", size);
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (at == MAP_FAILED)
        return err_set_errno(err, errno, "cannot map %zu bytes of a peer's shared memory", size);
    (void)madvise(at, size, MADV_HUGEPAGE);
    *ret = at;
    return 0;
}
