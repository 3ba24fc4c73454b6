/* The directory a run writes into; see model_dir.h. */
#include "train/model_dir.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/moment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { HOLDER_MAX = 256 };

/* "process 12 on host since 2026-01-02T03:04:05Z". */
static void describe_self(char text[HOLDER_MAX])
{
    char host[128] = "", since[MOMENT_TEXT_MAX];
    moment_format(moment_wall_ms(), since);
    (void)gethostname(host, sizeof(host) - 1);
    snprintf(text, HOLDER_MAX, "process %ld on %s since %s", (long)getpid(), host, since);
}

static int refuse(const char *directory, int fd, struct err *err)
{
    char holder[HOLDER_MAX];
    ssize_t got = pread(fd, holder, sizeof(holder) - 1, 0);
    holder[got > 0 ? got : 0] = '\0';
    holder[strcspn(holder, "\n")] = '\0';
    return err_set(err, ERR_CONFLICT,
                   "'%s' is in use by %s: wait until that run ends, or use another --model-dir",
                   directory, holder[0] ? holder : "another run");
}

int model_dir_claim(const char *directory, int *ret_fd, struct err *err)
{
    int result = file_make_dirs(directory, 0755, err);
    if (result < 0)
        return result;
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, MODEL_DIR_LOCK);
    _cleanup_fd_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot write '%s'", path);
    bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno == EWOULDBLOCK)
        return refuse(directory, fd, err);
    if (!locked)
        err_set_errno(err, errno, "cannot lock '%s', so that nothing keeps a second run away",
                      path);
    char self[HOLDER_MAX];
    describe_self(self);
    size_t size = strlen(self);
    self[size++] = '\n';
    /* Only for the sentence of others: a full disk is no reason to end here. */
    if (ftruncate(fd, 0) == 0)
        (void)!pwrite(fd, self, size, 0);
    *ret_fd = TAKE_FD(fd);
    return !locked;
}

int model_dir_probe(const char *directory, struct err *err)
{
    int result = file_make_dirs(directory, 0755, err);
    if (result < 0)
        return result;
    _cleanup_free_ char *path = mem_printf("%s/.probe.XXXXXX", directory);
    _cleanup_fd_ int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot write into '%s'", directory);
    unlink(path);
    return 0;
}
