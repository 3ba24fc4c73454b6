/* Implements the lock of a model directory with flock(); see model_dir.h. */
#include "train/run/model_dir.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "base/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { HOLDER_MAX = 256 }; /* size of the text in the lock file, which describes its holder */
#define RUN_LINE "run %016" PRIx64 "\n"

/* Writes "process 12 on host since 2026-01-02T03:04:05Z" and, if `run` is not 0, a line that
 * identifies the run to its other workers. */
static void describe_self(uint64_t run, char text[HOLDER_MAX])
{
    char host[128] = "", since[MOMENT_TEXT_MAX];
    moment_format(moment_wall_ms(), since);
    (void)gethostname(host, sizeof(host) - 1);
    int used =
        snprintf(text, HOLDER_MAX, "process %ld on %s since %s\n", (long)getpid(), host, since);
    if (run)
        snprintf(text + used, HOLDER_MAX - (size_t)used, RUN_LINE, run);
}

/* Reads the text of the lock file. Sets an empty text if it cannot be read. */
static void read_holder(int fd, char holder[HOLDER_MAX])
{
    ssize_t got = pread(fd, holder, HOLDER_MAX - 1, 0);
    holder[got > 0 ? got : 0] = '\0';
}

/* Returns -ERR_CONFLICT, with a message that names the process in the lock file. */
static int refuse_directory(const char *directory, int fd, struct err *err)
{
    char holder[HOLDER_MAX];
    read_holder(fd, holder);
    holder[strcspn(holder, "\n")] = '\0';
    return err_set(err, ERR_CONFLICT,
                   "'%s' is in use by %s: wait until that run ends, or use another --model-dir",
                   directory, holder[0] ? holder : "another run");
}

int model_dir_claim(const char *directory, uint64_t run, int *ret_fd, struct err *err)
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
        return refuse_directory(directory, fd, err);
    if (!locked)
        err_set_errno(err, errno,
                      "cannot lock '%s', so a second run could use the directory at the same time",
                      path);
    char self[HOLDER_MAX];
    describe_self(run, self);
    size_t size = strlen(self);
    /* The text is needed only for messages and model_dir_is_of_run(), so a failed write is no
     * error. */
    if (ftruncate(fd, 0) == 0)
        (void)!pwrite(fd, self, size, 0);
    *ret_fd = TAKE_FD(fd);
    return !locked;
}

bool model_dir_is_of_run(const char *directory, uint64_t run)
{
    char holder[HOLDER_MAX], line[64];
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, MODEL_DIR_LOCK);
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || !run)
        return false;
    read_holder(fd, holder);
    const char *rest = strchr(holder, '\n');
    snprintf(line, sizeof(line), RUN_LINE, run);
    return rest && str_eq(rest + 1, line);
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
