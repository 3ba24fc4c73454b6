/* Defines the plan: the result of the reconcile as data. The controller carries it out in this
 * order: adopt and release, annotations, PodGroup, services, pods and deletions, autoscaler,
 * status, events. The annotations contain counts, such as the number of restarts, so a count is
 * stored on the job before pods are created or deleted because of it. All memory is in
 * the reconcile's arena. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_PLAN_H
#define TRAINYARD_OPERATOR_RECONCILE_PLAN_H

#include "operator/kind/training_kind.h"

#include "base/json/json.h"

struct training_gang;

enum training_action_type {
    TRAINING_CREATE_SERVICE,
    TRAINING_CREATE_POD,
    TRAINING_DELETE_POD,
    TRAINING_DELETE_SERVICE,
    TRAINING_DELETE_JOB,
    TRAINING_CREATE_POD_GROUP,
    TRAINING_UPDATE_POD_GROUP,
    TRAINING_DELETE_POD_GROUP,
    TRAINING_ADOPT_POD,
    TRAINING_ADOPT_SERVICE,
    TRAINING_ADOPT_POD_GROUP,
    TRAINING_RELEASE_POD,
};

struct training_action {
    enum training_action_type type;
    const char *name;
    /* The uid of the object that is deleted or patched, so that a later object of the same name is
     * not affected. NULL or "" if the action creates an object. */
    const char *uid;
    const struct json *object; /* object to create, or patch; NULL: built later, or a deletion */
    bool force;                /* delete without grace period, because the pod's node is gone */
    /* The replica for which a pod or service is created. The object is built when the call is made.
     */
    enum training_replica_type replica_type;
    int replica_index;
};

struct training_event {
    bool warning;
    /* Every reconcile finds the same state again, so the controller process reports the event only
     * the first time. */
    bool once;
    const char *pod_uid; /* with `once`: once for the pod with this uid; NULL: once for the job */
    const char *reason;
    const char *message;
};

/* The input for building pods and services. They are built one at a time and not stored in the
 * plan, because each pod of a job of a thousand replicas contains a thousand addresses. */
struct training_builder {
    struct training_job *job;
    bool prepared;                    /* the kind's `prepare` has run; it runs with the first pod */
    const struct training_gang *gang; /* or NULL */
    const char *cluster_domain;       /* or NULL */
};

struct training_plan {
    struct arena *arena;
    struct training_builder *builder; /* NULL: the plan creates no pods or services */
    struct training_action *actions;
    size_t action_count, action_capacity;
    struct training_event *events;
    size_t event_count, event_capacity;
    struct json *annotations;  /* annotations to set on the job, JSON null to remove; NULL: none */
    const struct json *status; /* the new status; NULL: unchanged */
    const struct json *autoscaler; /* the wanted autoscaler; NULL: none */
    bool delete_autoscaler;        /* the job's autoscaler must be deleted */
    const int *host_ports;         /* all ports that the job holds from now on; NULL: unchanged */
    size_t host_port_count;
    int64_t requeue_ms; /* reconcile again after this time; -1: when something changes */
};

void training_plan_init(struct training_plan *plan, struct arena *arena);
/* Adds an action that creates `object`, or that sends `object` as a patch to the object with the
 * same name and uid. */
void training_plan_add(struct training_plan *plan, enum training_action_type type,
                       const struct json *object);
/* Adds an action that creates a pod or a service of a replica. plan->builder must be set. */
void training_plan_create_part(struct training_plan *plan, enum training_action_type type,
                               enum training_replica_type replica_type, int replica_index);
/* Returns the object or patch of the action. If the plan does not contain it, builds it in `arena`.
 */
const struct json *training_plan_object(const struct training_plan *plan,
                                        const struct training_action *action, struct arena *arena);
/* Adds an action that deletes `object`. */
void training_plan_delete(struct training_plan *plan, enum training_action_type type,
                          const struct json *object, bool force);
/* Adds an event and copies its texts. The caller may change the returned event until the next one
 * is added. */
struct training_event *training_plan_event(struct training_plan *plan, bool warning,
                                           const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Plans to set an annotation of the job, unless it has this text already. `text` NULL removes the
 * annotation. */
void training_plan_annotate(struct training_plan *plan, const struct json *job, const char *name,
                            const char *text);
/* Requests another pass after the delay. If there are several delays, the shortest one counts. */
void training_plan_requeue(struct training_plan *plan, int64_t delay_ms);

#endif
