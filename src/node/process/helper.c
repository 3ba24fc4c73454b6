/* Finds, starts and ends helpers; see process/helper.h. */
#include "node/process/helper.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/system/file.h"
#include "node/process/lock.h"
#include "node/process/start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/pidfd.h>

const struct helper_kind HELPER_HOLDER = {"hold", "holder", NULL, "the holder of the pod network"};
const struct helper_kind HELPER_PROXY = {"proxy", "proxy", "services", "the proxy of services"};
const struct helper_kind HELPER_NAMES = {"names", "responder", "names", "the name server of pods"};
const struct helper_kind HELPER_EGRESS = {"way-out", "way-out.lock", "way-out.network",
                                          "the egress program of the pod network"};

int helper_process_find(const struct helper_kind *kind, const char *state_dir, int *ret_pidfd,
                        struct err *err)
{
    _cleanup_free_ char *lock = mem_printf("%s/run/%s", state_dir, kind->lock);
    pid_t pid;
    return process_lock_holder(lock, ret_pidfd, &pid, err);
}

int helper_process_start(const struct helper_kind *kind, const struct helper_options *options,
                         struct err *err)
{
    _cleanup_free_ char *lock = mem_printf("%s/run/%s", options->state_dir, kind->lock);
    _cleanup_free_ char *table =
        kind->table ? mem_printf("%s/run/%s", options->state_dir, kind->table) : NULL;
    const char *const with_table[] = {options->step_path, kind->mode, options->holder, lock, table,
                                      options->argument,  NULL};
    const char *const alone[] = {options->step_path, kind->mode, lock, options->argument, NULL};
    int result = process_start_step(table ? with_table : alone, err);
    return result < 0 ? err_wrap(err, "cannot start %s", kind->what) : 0;
}

int helper_process_set_table(const struct helper_kind *kind, const char *state_dir,
                             const struct buf *text, struct err *err)
{
    _cleanup_free_ char *table = mem_printf("%s/run/%s", state_dir, kind->table);
    if (text->overflowed)
        return err_set(err, ERR_TOO_LARGE, "the table for %s is larger than %zu bytes", kind->what,
                       text->max);
    /* Does not wait for the disk, because the loop thread must not block. If a power failure
     * destroys the table, the next start of the cluster writes it again. */
    int result = file_replace(table, text->data, text->size, 0600, err);
    if (result < 0)
        return result;
    _cleanup_fd_ int pidfd = -1;
    result = helper_process_find(kind, state_dir, &pidfd, err);
    if (result == 0)
        pidfd_send_signal(pidfd, SIGHUP, NULL, 0);
    if (result != -ERR_NOT_FOUND)
        return result;
    err_clear(err); /* a helper that does not run yet reads the table when it starts */
    return 0;
}

int helper_process_end(const struct helper_kind *kind, const char *state_dir, struct err *err)
{
    _cleanup_fd_ int pidfd = -1;
    int result = helper_process_find(kind, state_dir, &pidfd, err);
    if (result == -ERR_NOT_FOUND)
        return 0;
    if (result == 0)
        result = process_kill(pidfd, PROCESS_DEATH_MS, err);
    return result < 0 ? err_wrap(err, "cannot end %s", kind->what) : 0;
}
