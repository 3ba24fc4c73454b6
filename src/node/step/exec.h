/* A command beside the container's own, inside its sandbox: what `kubectl exec`, probes and hooks
 * run. Used by the pod's supervisor only, whose child the command is: it is reaped there, and the
 * kernel ends it with the sandbox.
 *
 *   struct step_exec exec = STEP_EXEC_INIT;
 *   const struct step_exec_order order = {.arguments = (const char *const[]){"id", NULL},
 *                                         .fds = {-1, -1, -1}, .captured = 10240};
 *   if (step_exec_start(&exec, run, &order, &err) < 0)
 *       … err says why; nothing is left, nothing runs
 *
 * Nothing here blocks. While exec.pid is set the supervisor polls exec.output_fd (where output is
 * captured) and calls step_exec_read() when there is something; at each child that waitpid() gives
 * it asks step_exec_reaped(), which fills in how the command ended and what it said. Whoever needs
 * to know earlier that the command runs polls exec.report_fd and asks step_exec_has_started().
 * step_exec_signal() ends it before its time; its end is then reported like any other. */
#ifndef TRAINYARD_NODE_STEP_EXEC_H
#define TRAINYARD_NODE_STEP_EXEC_H

#include "base/buf.h"
#include "node/step/sandbox/container.h"

enum {
    STEP_EXEC_NOT_RUNNABLE = 126, /* exit codes of a command that never ran, as shells give them */
    STEP_EXEC_NOT_FOUND = 127,
};

struct step_exec_order {
    const char *const *arguments; /* the last is NULL */
    int fds[3];      /* its stdin, stdout and stderr; -1: nothing. The caller's still */
    bool terminal;   /* all three are a new terminal of the sandbox's own, fds are not used */
    size_t captured; /* > 0: stdout and stderr together are kept, at most so many bytes of them */
};

struct step_exec_end {
    int exit_code; /* 128 + signal, where one ended it */
    int signal;
    char message[ERR_MESSAGE_MAX]; /* why the command could not be run; else "" */
};

struct step_exec {
    pid_t pid;         /* 0: nothing runs */
    int report_fd;     /* readable when it has started, or cannot */
    int output_fd;     /* where output is captured, until it ends; else -1 */
    int terminal_fd;   /* the terminal's master once the command has started; else -1. To be taken
                          with TAKE_FD() by whoever serves it */
    struct buf output; /* captured so far; the rest is read and thrown away */
    struct err failure;
};

#define STEP_EXEC_INIT ((struct step_exec){.report_fd = -1, .output_fd = -1, .terminal_fd = -1})

/* Start it in the sandbox of `run`, which must be running: with the container's environment, user,
 * working directory and rights. */
int step_exec_start(struct step_exec *exec, const struct container_run *run,
                    const struct step_exec_order *order, struct err *err);

/* fork(), but the child belongs to the PID namespace of the process that the pidfd names, and
 * cannot be looked into. Takes the moment that a midwife needs. */
pid_t step_fork_inside(int sandbox_fd);

/* 1: the command runs (or has ended since); 0: not known yet; negative: it cannot run, err says
 * why. Its end is reported in each case. */
int step_exec_has_started(struct step_exec *exec, struct err *err);

/* Take the output that is there. */
void step_exec_read(struct step_exec *exec);

/* To the command and its process group. */
void step_exec_signal(const struct step_exec *exec, int number);

/* A child of the supervisor has ended. False if it was not this one; true: `ret` says how, and
 * exec.output holds what was captured until step_exec_release(). */
bool step_exec_reaped(struct step_exec *exec, pid_t pid, int wait_status,
                      struct step_exec_end *ret);

/* Forget it, descriptors and output; what still runs is killed and must still be reaped (by
 * waitpid(), nobody has to ask here). Safe twice. */
void step_exec_release(struct step_exec *exec);

#endif
