/* Starts one container in a sandbox, copies its output into its log, and determines how it ended.
 * step/supervisor_order.c decides when containers start and restart. */
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
    struct step_share *share; /* the shared PID namespace of the pod's containers, or NULL */
    int mark_fd; /* the container's mount namespace, by which step_share_sweep() finds its remaining
                    processes; -1 if `share` is NULL or no process has run */
    pid_t pid;   /* the sandbox's first process; 0 if none runs */
    int report_fd;
    struct step_log log;
    int input_fd;      /* the command's input: a pipe or the terminal's master; or -1 */
    int output_fds[2]; /* stdout and stderr; -1 when closed. A terminal uses only the first */
    struct step_tap *taps[2]; /* the attached clients of each output */
    struct node_log_writer writers[2];
    int64_t spent_ns; /* CPU time of this run's exec commands, probes and hooks that have exited, if
                         no control group counts it */
    bool is_up;       /* the program has started in this run */
    bool was_told;    /* the program ended after SIGTERM was sent */
    bool has_report;
    struct step_report report; /* the newest report, if has_report */
};

void container_run_init(struct container_run *run, const char *directory,
                        const struct pod_spec *pod, const struct pod_container *spec,
                        struct container_state *state, struct step_share *share);

/* Starts the container and sets its state to waiting. On failure the state becomes terminated, and
 * its `end` says why. */
int container_run_start(struct container_run *run, int64_t now_ms, struct err *err);

/* Returns the descriptor to poll for this output, or -1 if it is closed or bytes are kept for a
 * slow client. */
int container_run_output(const struct container_run *run, int stream);
/* Reads reports and output. Returns true if a report says that the program has started. */
bool container_run_read(struct container_run *run);

/* Returns true if the program has ended or the sandbox is being torn down. A check in the sandbox
 * that fails now fails for this reason. The first process will be reaped soon. */
bool container_run_is_ending(struct container_run *run);

/* Must be called when the sandbox's first process has been reaped. Copies the rest of the output
 * and sets the state to terminated. */
void container_run_reaped(struct container_run *run, int wait_status, int64_t now_ms);

/* Must be called when an exec command, probe or hook of the container has been reaped. Adds its CPU
 * time to the current run. Does nothing if the run is over or a control group counts CPU time. */
void container_run_spend(struct container_run *run, const struct rusage *used);

#endif
