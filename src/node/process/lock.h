/* A lock file that shows that a process lives, and which one. Record locks are used instead of
 * flock(), because a forked child does not inherit them and F_GETLK returns the holder's pid, so
 * that no pid file can become stale. */
#ifndef TRAINYARD_NODE_PROCESS_LOCK_H
#define TRAINYARD_NODE_PROCESS_LOCK_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* Takes the lock until this process ends: the descriptor must not be closed, and the file must not
 * be opened a second time. Returns -ERR_EXISTS if another process holds it. */
int process_lock_take(const char *path, int *ret_fd, struct err *err);

/* Returns the process that holds the lock, as a pidfd, which another process can never reuse, and
 * as a pid. Returns -ERR_NOT_FOUND if no process holds it. */
int process_lock_holder(const char *path, int *ret_pidfd, pid_t *ret_pid, struct err *err);

/* Waits up to timeout_ms for the process behind a pidfd to end. Returns true if it has. */
bool process_wait_end(int pidfd, int timeout_ms);

/* How long to wait for a killed process. A busy kernel may take seconds to end it; after this time
 * something is wrong with the machine. */
enum { PROCESS_DEATH_MS = 60 * 1000 };

/* Kills the process behind a pidfd and waits up to timeout_ms for its end. Returns -ERR_FORBIDDEN
 * if the caller may not kill it, or -ERR_TIMEOUT if it has not ended yet. */
int process_kill(int pidfd, int timeout_ms, struct err *err);

#endif
