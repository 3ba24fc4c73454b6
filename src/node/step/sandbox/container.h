/* One container under its supervisor: start it in a sandbox, copy its output into its log, learn
 * how it ended. Knows nothing of restarts and order; those are step/supervisor_order.c's. */
#ifndef TRAINYARD_NODE_STEP_CONTAINER_H
#define TRAINYARD_NODE_STEP_CONTAINER_H

#include "node/log/container_log.h"
#include "node/pod/state.h"
#include "node/step/helper/tap.h"
#include "node/step/log.h"
#include "node/step/sandbox/share.h"
#include "node/step/step.h"

#include <sys/resource.h>

struct container_run {
    const char *directory; /* of the pod */
    const struct pod_spec *pod;
    const struct pod_container *spec;
    struct container_state *state;
    struct step_share *share; /* where the containers see each other's processes; or NULL */
    int mark_fd;              /* what it leaves there is known by; -1: nothing ran yet */
    pid_t pid;                /* of the sandbox's first process; 0: not running */
    int report_fd;
    struct step_log log;
    int input_fd;      /* for the command's input: a pipe or the terminal's master; or -1 */
    int output_fds[2]; /* stdout, stderr; -1 when closed. Of a terminal there is only the first */
    struct step_tap *taps[2]; /* who listens to them */
    struct node_log_writer writers[2];
    int64_t spent_ns; /* the time of what ran beside its program, in this run, and has ended */
    bool is_up;       /* its program runs, or ran */
    bool was_told;    /* its program ended after it had been told to */
    bool has_report;
    struct step_report report; /* the last one, while running */
};

void container_run_init(struct container_run *run, const char *directory,
                        const struct pod_spec *pod, const struct pod_container *spec,
                        struct container_state *state, struct step_share *share);

/* The state becomes waiting for the sandbox; a failure is filled into it as an end. */
int container_run_start(struct container_run *run, int64_t now_ms, struct err *err);

/* The descriptor to poll for that output; -1: none, or who listens to it takes no more now. */
int container_run_output(const struct container_run *run, int stream);
/* Something is to be read: true if it says that the program runs now. */
bool container_run_read(struct container_run *run);

/* Its program has ended, or its sandbox is being taken apart: what is tried in there now fails for
 * that, and only that. Its first process will be reaped. */
bool container_run_is_ending(struct container_run *run);

/* The sandbox's first process has been reaped: the rest of the output is copied and the state
 * becomes terminated. */
void container_run_reaped(struct container_run *run, int wait_status, int64_t now_ms);

/* Something that ran beside its program has been reaped. Its time counts for the run that is on: of
 * one that is over nobody asks. */
void container_run_spend(struct container_run *run, const struct rusage *used);

#endif
