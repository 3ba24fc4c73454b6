/* What the reconcile wants done, as data. The controller does it in this order: adopt and release,
 * remember (the annotations), the PodGroup, services, pods and deletions, the autoscaler, the
 * status, then the events; so that what is counted is on the job before anything happens because of
 * it. Everything lives in the reconcile's arena.
 */
#ifndef TRAINYARD_OPERATOR_PLAN_H
#define TRAINYARD_OPERATOR_PLAN_H

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
    const char *uid;           /* of what is deleted or claimed, so that its successor is spared */
    const struct json *object; /* what is created, or the patch of what is changed */
    bool force;                /* delete at once: nobody is left to do it gracefully */
    /* Whose pod or service is created; the object is made when it is needed. */
    enum training_replica_type replica_type;
    int replica_index;
};

struct training_event {
    bool warning;
    bool once; /* said of a state that lasts: not to be repeated while the controller lives */
    const char *pod_uid; /* … of the pod of this uid; NULL: of the job */
    const char *reason;
    const char *message;
};

/* What the objects of replicas are made from. They are made one at a time and not kept in the
 * plan: each pod of a job of a thousand replicas names a thousand peers. */
struct training_builder {
    struct training_job *job;
    bool prepared;                    /* by the kind, with the first pod */
    const struct training_gang *gang; /* or NULL */
    const char *cluster_domain;       /* or NULL */
};

struct training_plan {
    struct arena *arena;
    struct training_builder *builder; /* NULL: the plan creates nothing of a replica */
    struct training_action *actions;
    size_t action_count, action_capacity;
    struct training_event *events;
    size_t event_count, event_capacity;
    struct json *annotations;      /* to set on the job (null: take away); NULL: none */
    const struct json *status;     /* the new one; NULL: as it is */
    const struct json *autoscaler; /* that shall be there; NULL: none is asked for */
    bool autoscaler_goes;          /* what the job once asked for shall not be there */
    const int *host_ports;         /* all that the job holds from now on; NULL: as it is */
    size_t host_port_count;
    int64_t requeue_ms; /* look again after so long; -1: when something changes */
};

void training_plan_init(struct training_plan *plan, struct arena *arena);
void training_plan_create(struct training_plan *plan, enum training_action_type type,
                          const struct json *object);
/* A pod or a service of a replica. */
void training_plan_create_part(struct training_plan *plan, enum training_action_type type,
                               enum training_replica_type replica_type, int replica_index);
/* What the action creates or changes, made in the arena where it is not there yet. */
const struct json *training_plan_object(const struct training_plan *plan,
                                        const struct training_action *action, struct arena *arena);
void training_plan_delete(struct training_plan *plan, enum training_action_type type,
                          const struct json *object, bool force);
struct training_event *training_plan_event(struct training_plan *plan, bool warning,
                                           const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Set an annotation of the job, where it is not so already; NULL takes it away. */
void training_plan_annotate(struct training_plan *plan, const struct json *job, const char *name,
                            const char *text);
void training_plan_requeue(struct training_plan *plan, int64_t delay_ms); /* the earliest wins */

#endif
