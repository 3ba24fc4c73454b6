/* A lock file as a sign of life: the process that holds it lives, and the kernel says which one it
 * is. Record locks are used rather than flock() because a forked child does not inherit them and
 * F_GETLK names the holder's pid, so no pid file can go stale. */
#ifndef TRAINYARD_NODE_PROCESS_LOCK_H
#define TRAINYARD_NODE_PROCESS_LOCK_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* Hold the lock until this process ends: the descriptor must not be closed, nor the file opened a
 * second time. ERR_EXISTS if another process holds it. */
int process_lock_take(const char *path, int *ret_fd, struct err *err);

/* The process that holds the lock, as a pidfd that cannot be reused by a stranger, and its pid.
 * ERR_NOT_FOUND if nobody does. */
int process_lock_holder(const char *path, int *ret_pidfd, pid_t *ret_pid, struct err *err);

/* Wait up to timeout_ms for the process behind a pidfd to end; true if it has. */
bool process_wait_end(int pidfd, int timeout_ms);

/* One that was killed is dead when the kernel gets to it, which a busy machine may put off for
 * seconds. Nothing can be done but wait; this long, and something is wrong with the machine. */
enum { PROCESS_DEATH_MS = 60 * 1000 };

/* Kill the process behind a pidfd and wait up to timeout_ms for its end. ERR_FORBIDDEN if it is not
 * ours to kill, ERR_TIMEOUT if it is dying still. */
int process_kill(int pidfd, int timeout_ms, struct err *err);

#endif
