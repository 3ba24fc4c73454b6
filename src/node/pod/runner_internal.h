/* Shared by the files of a pod's runner. pod/runner.c has its state machine, pod/runner_start.c and
 * pod/runner_stop.c start and end the supervisor, pod/report.c reports to the API, pod/token_call.c
 * requests tokens, pod/eviction.c measures the pod's use of the disk, and pod/refresh.c updates its
 * volumes. */
#ifndef TRAINYARD_NODE_POD_RUNNER_INTERNAL_H
#define TRAINYARD_NODE_POD_RUNNER_INTERNAL_H

#include "node/plan/plan.h"
#include "node/plan/preparation.h"
#include "node/pod/runner.h"
#include "node/pod/supervisor.h"

#include "base/map.h"
#include "base/state_machine.h"

#define POD_RUNNER_COMPONENT "kubelet" /* reported as the source of events */

enum runner_state {
    RUNNER_WAITING, /* no supervisor is known to run; one is to be started, unless the pod's node is
                       POD_NODE_AWAY or the pod is unwanted */
    RUNNER_STARTING, /* the pod is being planned, or its supervisor is being started */
    RUNNER_RUNNING,  /* the supervisor runs */
    RUNNER_ENDED,    /* no process of the pod runs, and none is to be started */
};

/* The context of a request to the API in flight. It may outlive the runner. */
struct runner_call {
    struct pod_runner *runner; /* NULL if the runner was freed meanwhile */
    char *audience;            /* the audience of the token that was requested, or NULL */
};

struct pod_runner {
    struct pod_host *host;
    struct kube_object *object; /* the newest version of the pod that the runner has seen */
    bool forgotten;             /* the pod is gone from the API */
    char *uid, *directory;
    int node; /* the node's number, or POD_NODE_AWAY */
    char *node_address;
    char address[INET_ADDRSTRLEN]; /* "" until the pod has one */
    char *peers;        /* the name of the directory that the pod shares with its job, or NULL */
    bool has_spec;      /* the pod was planned, since the last boot and with the current settings */
    int64_t started_ms; /* the wall time at which the node accepted the pod */
    int64_t deadline_ms;          /* the deadline in the spec; 0 means none */
    struct state_machine machine; /* an enum runner_state */
    struct plan_preparation
        *preparation; /* the preparation in progress, before the supervisor is started; else NULL */
    struct supervisor_link *link;
    struct pod_state state; /* the newest state that the supervisor has written */
    bool has_state;         /* `state` was read */
    /* Why the pod cannot start (struct plan_refusal); `refusal_reason` is "" if it can. */
    char refusal_reason[POD_REASON_MAX], refusal_message[POD_MESSAGE_MAX], refusal_container[64];
    struct loop_timer retry; /* calls pod_runner_work() */
    int64_t respawn_ms; /* the pause before the next supervisor is started; doubles each time until
                           a container runs */
    int64_t stopped_with_ms;  /* the grace period of the last stop request that was stored, or -1 */
    bool has_stop_failed;     /* the stop request could not be stored; storing is tried again */
    bool was_deletion_told;   /* a stop request has told the supervisor that the pod is deleted */
    struct runner_call *call; /* the write of the status or the deletion in flight, or NULL */
    /* The token request in flight, or NULL. The pod is planned only after the answer. */
    struct runner_call *token_call;
    struct map tokens; /* tokens of the service account by audience, until the pod is planned */
    char *published; /* the status that was sent last; NULL if none was sent or the API has refused
                        it */
    bool deleted;    /* the confirmation of the deletion was sent to the API */
    struct loop_timer measure; /* runs until the next measurement of the pod's disk space */
    struct storage_walk *walk; /* the measurement in progress, or NULL */
    bool was_gap_told;         /* an event has reported that some files cannot be measured */
};

static inline const struct json *runner_pod(const struct pod_runner *runner)
{
    return runner->object->json;
}

/* Does what is due now: starts, ends or measures the pod, and reports its status. This call may
 * free the runner (pod_host.done). */
void pod_runner_work(struct pod_runner *runner);

enum runner_state pod_runner_state(const struct pod_runner *runner);
/* Changes the runner's state, and counts pod_host.starting. */
void pod_runner_move(struct pod_runner *runner, enum runner_state state);
/* Returns true if the pod is being deleted or is gone from the API. */
bool pod_runner_is_unwanted(const struct pod_runner *runner);
/* Replaces runner->peers by a copy of `name`, which may be NULL. */
void pod_runner_keep_peers(struct pod_runner *runner, const char *name);
/* Reads the pod's state file again. Returns true if the runner has a state, new or old. If `tell`
 * is set, sends the new events in the state to the API. */
bool pod_runner_load_state(struct pod_runner *runner, bool tell);
/* Sends an event about a container, or about the whole pod if `container` is "". */
void pod_runner_tell(struct pod_runner *runner, const char *container, bool is_warning,
                     const char *reason, const char *message);

/* Begins to start the pod, and returns at once: finds a running supervisor, or plans the pod if
 * needed and then starts a supervisor. */
void pod_runner_start(struct pod_runner *runner);
/* Finds a running supervisor, for example after a restart of the control process. The result is
 * that of supervisor_link_attach(). */
int pod_runner_attach(struct pod_runner *runner, struct err *err);
/* Like pod_runner_refuse(), with the reason FailedCreatePodSandBox. */
void pod_runner_refuse_sandbox(struct pod_runner *runner, const struct err *err);
/* Tells the supervisor to end a pod that is being deleted or is gone from the API. */
void pod_runner_stop_deleted(struct pod_runner *runner);
/* Called for a pod with POD_NODE_AWAY. Tells its supervisor to pause the pod; if none runs, reports
 * why the pod waits. */
void pod_runner_wait_for_node(struct pod_runner *runner);

/* Returns true if the supervisor runs. */
bool pod_runner_is_running(const struct pod_runner *runner);
/* Tells the supervisor to end the pod with this grace period. The reason and the message become
 * those of the pod's status. */
void pod_runner_stop(struct pod_runner *runner, int64_t grace_ms, const char *reason,
                     const char *message);

/* Sends a Warning event about the pod. */
void pod_runner_warn(struct pod_runner *runner, const char *reason, const char *message);

/* Measures the pod's disk space from now on (pod/eviction.c), more often if the pod's spec limits
 * it. Does nothing if measuring has begun. */
void pod_runner_begin_measuring(struct pod_runner *runner);
void pod_runner_end_measuring(struct pod_runner *runner);
void pod_runner_on_measure(struct loop_timer *timer);

/* Returns true if the runner has all tokens that the pod's volumes need. Otherwise requests the
 * next missing token. When the answer comes, pod_runner_work() is called, after pod_runner_refuse()
 * if the request has failed. */
bool pod_runner_has_tokens(struct pod_runner *runner);
/* Records why the pod cannot start, sends an event if the message is new, and starts `retry`. The
 * next status shows the reason. */
void pod_runner_refuse(struct pod_runner *runner, const struct plan_refusal *refusal,
                       const struct err *err);

/* Sends the supervisor a deadline that was changed since the pod was planned. */
void pod_runner_tell_deadline(struct pod_runner *runner);
/* Compares the pod with `before`, its older version. If labels or annotations differ, updates the
 * volumes that show the pod's metadata. If an image differs, reports that the change has no
 * effect. */
void pod_runner_refresh_own(struct pod_runner *runner, const struct json *before);
/* Updates all volumes of the pod that show objects of the API. Called if such objects have changed
 * while the pod was planned. */
void pod_runner_refresh_all(struct pod_runner *runner);

/* Replaces the runner's version of the pod by `object`, unless `object` is older. The object of an
 * informer may be older than the answer to the runner's own write. */
void pod_runner_see(struct pod_runner *runner, struct kube_object *object);
/* Starts to write the status if it has changed. Returns true if it has sent a request. */
bool pod_runner_publish(struct pod_runner *runner);
/* Deletes the pod's object with grace period 0, because no process of the pod is left on this
 * machine. */
void pod_runner_confirm_deletion(struct pod_runner *runner);

#endif
