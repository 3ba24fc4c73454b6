/* Keeps copies of damaged files; see store_quarantine.h. */
#include "store/store_quarantine.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

enum { COPY_STEP = 1 << 20 };

static char *make_name(const char *path, int n)
{
    return mem_printf("%s.damaged-%d", path, n);
}

char *store_quarantine_name(const char *path, int n)
{
    _cleanup_free_ char *name = make_name(path, n);
    return n <= STORE_QUARANTINE_MAX && file_exists(name) ? TAKE(name) : NULL;
}

static int refuse_more(const char *path, struct err *err)
{
    return err_set(err, ERR_TOO_MANY, "'%s.damaged-1' to '-%d' exist already: delete some of them",
                   path, STORE_QUARANTINE_MAX);
}

static int copy_all(const char *path, int to, const char *name, struct err *err)
{
    _cleanup_fd_ int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return err_set_errno(err, errno, "cannot open '%s'", path);
    ssize_t sent;
    while ((sent = sendfile(to, from, NULL, COPY_STEP)) > 0 || (sent < 0 && errno == EINTR))
        ;
    if (sent < 0 || fsync(to) < 0)
        return err_set_errno(err, errno, "cannot copy '%s' to '%s'", path, name);
    return 0;
}

int store_quarantine_copy(const char *path, char **ret_name, struct err *err)
{
    for (int n = 1; n <= STORE_QUARANTINE_MAX; n++) {
        _cleanup_free_ char *name = make_name(path, n);
        _cleanup_fd_ int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 && errno == EEXIST)
            continue;
        if (fd < 0)
            return err_set_errno(err, errno, "cannot create '%s'", name);
        int result = copy_all(path, fd, name, err);
        if (result == 0)
            *ret_name = TAKE(name);
        else
            unlink(name);
        return result;
    }
    return refuse_more(path, err);
}

int store_quarantine_link(const char *path, char **ret_name, struct err *err)
{
    for (int n = 1; n <= STORE_QUARANTINE_MAX; n++) {
        _cleanup_free_ char *name = make_name(path, n);
        if (link(path, name) == 0) {
            *ret_name = TAKE(name);
            return 0;
        }
        if (errno != EEXIST)
            return err_set_errno(err, errno, "cannot keep '%s' as '%s'", path, name);
    }
    return refuse_more(path, err);
}
