/* Takes and inspects lock files. A long-running process holds a lock file, so that other processes
 * can see whether it runs, and find its pid. The files use record locks instead of flock(), because
 * a forked child does not inherit record locks. F_GETLK returns the pid of the holder, so no pid
 * file is needed that could become stale. */
#ifndef TRAINYARD_NODE_PROCESS_LOCK_H
#define TRAINYARD_NODE_PROCESS_LOCK_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* Takes the lock until this process ends. The caller must not close `*ret_fd`, and must not open
 * the file again, because closing any descriptor of the file releases the lock. Returns 0,
 * -ERR_EXISTS if another process holds the lock, or another negative code. */
int process_lock_take(const char *path, int *ret_fd, struct err *err);

/* Finds the process that holds the lock. Sets `*ret_pidfd` to a pidfd of the process, which the
 * caller closes, and `*ret_pid` to its pid. Returns 0, -ERR_NOT_FOUND if no other process holds the
 * lock or the file does not exist, or another negative code if it is not known whether a process
 * holds the lock, for example because no descriptor is free. */
int process_lock_holder(const char *path, int *ret_pidfd, pid_t *ret_pid, struct err *err);

/* Like process_lock_holder(), but returns 0 and sets `*ret_pidfd` to -1 if no other process holds
 * the lock. */
int process_lock_find(const char *path, int *ret_pidfd, struct err *err);

/* Waits up to timeout_ms for the process behind a pidfd to end. Returns true if it has ended. */
bool process_wait_end(int pidfd, int timeout_ms);

/* The usual timeout for process_kill(). A busy kernel may take seconds to end a killed process;
 * after this time something is wrong with the machine. */
enum { PROCESS_DEATH_MS = 60 * 1000 };

/* Kills the process behind a pidfd and waits up to timeout_ms for its end. Returns 0,
 * -ERR_FORBIDDEN if the caller may not kill the process, or -ERR_TIMEOUT if the process has not
 * ended in time. */
int process_kill(int pidfd, int timeout_ms, struct err *err);

#endif
