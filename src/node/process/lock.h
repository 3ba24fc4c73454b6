/* Lock files that show whether a process lives, and its pid. They use record locks instead of
 * flock(), because a forked child does not inherit record locks. F_GETLK returns the pid of the
 * holder, so no pid file is needed that could become stale. */
#ifndef TRAINYARD_NODE_PROCESS_LOCK_H
#define TRAINYARD_NODE_PROCESS_LOCK_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* Takes the lock until this process ends. The caller must not close the descriptor, and must not
 * open the file again, because closing any descriptor of the file releases the lock. Returns
 * -ERR_EXISTS if another process holds it. */
int process_lock_take(const char *path, int *ret_fd, struct err *err);

/* Finds the process that holds the lock. Returns it as a pidfd, which never refers to another
 * process, and as a pid. Returns -ERR_NOT_FOUND if no process holds the lock. */
int process_lock_holder(const char *path, int *ret_pidfd, pid_t *ret_pid, struct err *err);

/* Waits up to timeout_ms for the process behind a pidfd to end. Returns true if it has ended. */
bool process_wait_end(int pidfd, int timeout_ms);

/* How long to wait for a killed process. A busy kernel may take seconds to end it; after this time
 * something is wrong with the machine. */
enum { PROCESS_DEATH_MS = 60 * 1000 };

/* Kills the process behind a pidfd and waits up to timeout_ms for its end. Returns -ERR_FORBIDDEN
 * if the caller may not kill it, or -ERR_TIMEOUT if it has not ended yet. */
int process_kill(int pidfd, int timeout_ms, struct err *err);

#endif
