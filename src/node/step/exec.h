/* Runs a command in a container's sandbox beside the container's own program, for `kubectl exec`,
 * probes and hooks. Only the pod's supervisor uses it. The command is the supervisor's child: the
 * supervisor reaps it. The command ends with the sandbox at the latest.
 *
 *   struct step_exec exec = STEP_EXEC_INIT;
 *   const struct step_exec_options options = {.arguments = (const char *const[]){"id", NULL},
 *                                             .fds = {-1, -1, -1}, .captured = 10240};
 *   if (step_exec_start(&exec, run, &options, &err) < 0)
 *       … err says why; there is nothing to release, and nothing runs
 *
 * No function waits for the command. While exec.pid is set, the supervisor polls exec.output_fd (if
 * output is captured) and calls step_exec_read() when it is readable. It passes each child that
 * waitpid() returns to step_exec_reaped(), which says how the command ended. To learn earlier that
 * the command runs, the supervisor polls exec.report_fd and calls step_exec_has_started().
 * step_exec_signal() ends the command early; its end is reported like any other. */
#ifndef TRAINYARD_NODE_STEP_EXEC_H
#define TRAINYARD_NODE_STEP_EXEC_H

#include "base/buf.h"
#include "node/step/sandbox/container.h"

enum {
    STEP_EXEC_NOT_RUNNABLE = 126, /* exit codes of a command that never ran, as shells use them */
    STEP_EXEC_NOT_FOUND = 127,
};

struct step_exec_options {
    const char *const *arguments; /* the last one is NULL */
    int fds[3];      /* stdin, stdout and stderr; -1 means /dev/null. The caller closes them */
    bool terminal;   /* all three are a new terminal of the sandbox; `fds` is not used */
    size_t captured; /* if > 0: keeps up to this many bytes of stdout and stderr together */
};

struct step_exec_end {
    int exit_code; /* 128 + signal if a signal ended the command */
    int signal;
    char message[ERR_MESSAGE_MAX]; /* why the command could not run; else "" */
};

struct step_exec {
    pid_t pid;     /* 0 if nothing runs */
    int report_fd; /* readable when the command has started or cannot start; -1 after
                      step_exec_has_started() has returned 1 */
    int output_fd; /* the pipe with the captured output; -1 if nothing is captured or the output has
                      ended */
    int terminal_fd; /* the terminal's master after the start; else -1. The caller may take it with
                        TAKE_FD() */
    struct buf output;  /* the output captured so far; output that does not fit is dropped */
    struct err failure; /* why the command cannot run; ERR_NONE if no failure is known */
};

#define STEP_EXEC_INIT ((struct step_exec){.report_fd = -1, .output_fd = -1, .terminal_fd = -1})

/* Starts the command in the sandbox of `run`, with the container's environment, user, working
 * directory and rights. Returns 0, -ERR_UNAVAILABLE if the container does not run, or another
 * negative code. */
int step_exec_start(struct step_exec *exec, const struct container_run *run,
                    const struct step_exec_options *options, struct err *err);

/* Like fork(), but the child is in the PID namespace of the process behind the pidfd. No process of
 * that namespace can inspect the child before its execve(). Blocks for a moment, until an
 * intermediate process has exited. Returns -1 and sets errno on failure. */
pid_t step_fork_inside(int sandbox_fd);

/* Returns 1 if the command runs or has run, 0 if that is not known yet, or a negative code if it
 * cannot run. step_exec_reaped() reports the end in each case. */
int step_exec_has_started(struct step_exec *exec, struct err *err);

/* Reads the output that is available. */
void step_exec_read(struct step_exec *exec);

/* Signals the command and its process group. */
void step_exec_signal(const struct step_exec *exec, int number);

/* Must be called when a child of the supervisor has been reaped. Returns false if it was not this
 * command. Otherwise `ret` says how the command ended, and exec.output holds the captured output
 * until step_exec_release(). */
bool step_exec_reaped(struct step_exec *exec, pid_t pid, int wait_status,
                      struct step_exec_end *ret);

/* Closes descriptors, frees the output, and kills a command that still runs; the supervisor's
 * waitpid() must still reap it. Safe to call twice. */
void step_exec_release(struct step_exec *exec);

#endif
