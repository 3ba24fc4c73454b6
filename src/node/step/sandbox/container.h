/* Starts one container in a sandbox, copies its output into its log, and determines how it ended.
 * Only the pod's supervisor uses it. step/supervisor_order.c decides when containers start and
 * restart. */
#ifndef TRAINYARD_NODE_STEP_SANDBOX_CONTAINER_H
#define TRAINYARD_NODE_STEP_SANDBOX_CONTAINER_H

#include "node/log/container_log.h"
#include "node/pod/record/state.h"
#include "node/step/helper/tap.h"
#include "node/step/log.h"
#include "node/step/sandbox/share.h"
#include "node/step/step.h"

#include <sys/resource.h>

struct container_run {
    const char *directory; /* the pod's directory */
    const struct pod_spec *pod;
    const struct pod_container *spec;
    struct container_state *state;
    struct step_share *share; /* the PID namespace that the pod's containers share; NULL if each has
                                 its own, or none */
    int mark_fd;   /* a descriptor of the container's mount namespace, by which step_share_sweep()
                      finds its remaining processes; -1 if `share` is NULL or the first process has
                      not sent it */
    pid_t pid;     /* the sandbox's first process; 0 if none runs */
    int report_fd; /* the socket for the reports of the first process (struct step_report); or -1 */
    struct step_log log;
    int input_fd;      /* the program's input: a pipe or the terminal's master; or -1 */
    int output_fds[2]; /* stdout and stderr; -1 when closed. A terminal uses only the first */
    struct step_tap *taps[2];          /* the attached clients of each output */
    struct node_log_writer writers[2]; /* convert stdout and stderr to records of the log */
    int64_t exec_cpu_ns; /* CPU time of this run's exec commands, probes and hooks that have exited;
                            0 if control groups count it */
    bool is_up;          /* the program has started in this run */
    bool got_sigterm;    /* the last run that ended got SIGTERM before its program ended */
    bool has_report;
    /* If has_report: the newest report except STEP_TERMINAL and STEP_MARK. */
    struct step_report report;
};

void container_run_init(struct container_run *run, const char *directory,
                        const struct pod_spec *pod, const struct pod_container *spec,
                        struct container_state *state, struct step_share *share);

/* Starts the sandbox's first process and sets the container's state to waiting.
 * container_run_read() tells later that the program has started. On failure returns a negative
 * code, and the state becomes terminated, with the reason in its `end`. */
int container_run_start(struct container_run *run, int64_t now_ms, struct err *err);

/* Returns the descriptor to poll for stdout (0) or stderr (1), or -1 if it is closed or bytes are
 * kept for a slow client. */
int container_run_output(const struct container_run *run, int stream);
/* Reads the reports and the output that are available. Returns true if a new report says that the
 * program has started. */
bool container_run_read(struct container_run *run);

/* Returns true if the program has ended or the sandbox is being torn down, so that the first
 * process will be reaped soon. A check that fails at this time says nothing about the program. */
bool container_run_is_ending(struct container_run *run);

/* Must be called when the sandbox's first process has been reaped. Copies the rest of the output
 * and sets the state to terminated. In a shared PID namespace, kills the remaining processes of the
 * container first and waits for their end. */
void container_run_reaped(struct container_run *run, int wait_status, int64_t now_ms);

/* Must be called when an exec command, probe or hook of the container has been reaped. Adds its CPU
 * time to the current run. Does nothing if the run is over, or if control groups count the CPU time
 * and the memory of the container. */
void container_run_add_cpu_time(struct container_run *run, const struct rusage *used);

#endif
