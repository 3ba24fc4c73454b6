/* What the files of a pod's runner share: pod/runner.c orders its life, pod/runner_start.c and
 * pod/runner_stop.c start and end its supervisor, pod/report.c tells the API,
 * pod/token_call.c asks it for tokens, pod/eviction.c looks at the disk it uses. */
#ifndef TRAINYARD_NODE_POD_RUNNER_INTERNAL_H
#define TRAINYARD_NODE_POD_RUNNER_INTERNAL_H

#include "node/plan/plan.h"
#include "node/plan/preparation.h"
#include "node/pod/runner.h"
#include "node/pod/supervisor.h"

#include "base/map.h"
#include "base/state_machine.h"

#define POD_RUNNER_COMPONENT "kubelet" /* the source of the events, as in every cluster */

enum runner_state {
    RUNNER_WAITING,  /* for its turn, for what its pod needs, or after its supervisor was killed */
    RUNNER_STARTING, /* the pod is planned and its supervisor started */
    RUNNER_RUNNING,  /* the supervisor lives */
    RUNNER_ENDED,    /* nothing of the pod runs, and nothing will */
};

/* A request to the API under way: it may outlive the runner. */
struct runner_call {
    struct pod_runner *runner; /* NULL: freed meanwhile */
    char *audience;            /* of the token asked for, or NULL */
};

struct pod_runner {
    struct pod_host *host;
    struct kube_object *object; /* the newest seen */
    bool forgotten;             /* gone from the API */
    char *uid, *directory;
    int node; /* or POD_NODE_AWAY */
    char *node_address;
    char address[INET_ADDRSTRLEN]; /* "" until one is taken */
    char *peers;                   /* name of the directory it shares with its job, or NULL */
    bool has_spec; /* it is planned, since the machine was started and as pods run here now */
    int64_t started_ms;
    int64_t deadline_ms;          /* as its supervisor was given it with the spec; 0: none */
    struct state_machine machine; /* an enum runner_state */
    struct plan_preparation *preparation; /* under way, before the supervisor is started, or NULL */
    struct supervisor_link *link;
    struct pod_state state;
    bool has_state;
    char refusal_reason[POD_REASON_MAX], refusal_message[POD_MESSAGE_MAX], refusal_container[64];
    struct loop_timer retry;
    int64_t respawn_ms;
    int64_t stopped_with_ms; /* the shortest grace the supervisor was told, or -1 */
    bool was_stop_lost;      /* it was told to end, but not how; it is tried again */
    bool was_deletion_told;  /* the supervisor knows that the pod is deleted */
    struct runner_call *call;
    struct runner_call *token_call; /* a token is on its way; what waits for it is WAITING */
    struct map tokens;              /* of the service account, by audience; until it is planned */
    char *published;                /* the status last accepted by the API */
    bool deleted;                   /* we have confirmed the deletion */
    struct loop_timer measure;      /* runs while it is to be measured again */
    struct storage_walk *walk;      /* a measuring under way, or NULL */
    bool was_gap_told;              /* that not all of its disk can be measured */
};

static inline const struct json *runner_pod(const struct pod_runner *runner)
{
    return runner->object->json;
}

/* Do what is to be done now. The runner may be gone afterwards. */
void pod_runner_work(struct pod_runner *runner);

enum runner_state pod_runner_state(const struct pod_runner *runner);
/* Also counts the runners of the host that are starting. */
void pod_runner_move(struct pod_runner *runner, enum runner_state state);
/* Its pod is deleted, or gone from the API. */
bool pod_runner_is_unwanted(const struct pod_runner *runner);
void pod_runner_keep_peers(struct pod_runner *runner, const char *name);
/* Read the supervisor's state file again; true if there is one. `tell`: send the news as events. */
bool pod_runner_load_state(struct pod_runner *runner, bool tell);
/* An event about a container, or, with "", about the pod. */
void pod_runner_tell(struct pod_runner *runner, const char *container, bool is_warning,
                     const char *reason, const char *message);

/* Plan the pod if it is not planned, and start its supervisor; or find one that lives. */
void pod_runner_start(struct pod_runner *runner);
/* Find a supervisor that lives, as after a start of the control process; false if there is none. */
bool pod_runner_attach(struct pod_runner *runner);
void pod_runner_refuse_sandbox(struct pod_runner *runner, const struct err *err);
/* End the pod, whose object is being deleted or gone. */
void pod_runner_stop_deleted(struct pod_runner *runner);
/* The pod's node is away: pause the pod if it runs, and say why it waits. */
void pod_runner_wait_for_node(struct pod_runner *runner);

/* Its supervisor lives. */
bool pod_runner_is_running(const struct pod_runner *runner);
/* End it within this time; the reason is the pod's as a whole. */
void pod_runner_stop(struct pod_runner *runner, int64_t grace_ms, const char *reason,
                     const char *message);

/* Tell its owner, in an event. */
void pod_runner_warn(struct pod_runner *runner, const char *reason, const char *message);

/* From now on, if it has limits on the disk (pod/eviction.c). */
void pod_runner_begin_measuring(struct pod_runner *runner);
void pod_runner_end_measuring(struct pod_runner *runner);
void pod_runner_on_measure(struct loop_timer *timer);

/* Ask for the tokens its volumes want; true if they are all there. Otherwise the answer brings us
 * back to pod_runner_work(), or to pod_runner_refuse(). */
bool pod_runner_has_tokens(struct pod_runner *runner);
/* It cannot be started as it is, for now. */
void pod_runner_refuse(struct pod_runner *runner, const struct plan_refusal *refusal,
                       const struct err *err);

/* Its deadline may have been changed since its supervisor was given one. */
void pod_runner_tell_deadline(struct pod_runner *runner);
/* The pod is a newer one than `before`: what volumes show of it follows. */
void pod_runner_refresh_own(struct pod_runner *runner, const struct json *before);
/* Config maps or secrets have changed while the pod was planned: its volumes follow. */
void pod_runner_refresh_all(struct pod_runner *runner);

/* Take over a newer version; an informer may lag behind the answers to our own writes. */
void pod_runner_see(struct pod_runner *runner, struct kube_object *object);
/* Write the status if it says something new; true if a call is under way for it. */
bool pod_runner_publish(struct pod_runner *runner);
/* Tell the API that nothing of the deleted pod is left. */
void pod_runner_confirm_deletion(struct pod_runner *runner);

#endif
