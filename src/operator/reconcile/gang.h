/* Gang scheduling: either all pods of a job start or none. The operator creates a PodGroup per job
 * and marks the pods as members; the scheduler named by the operator's option does the rest.
 * Volcano has a PodGroup of its own and admits a group before its pods are created. Every other
 * name is treated as a scheduler with the coscheduling plugin of scheduler-plugins, which needs
 * only a label on the pods. Pure. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_GANG_H
#define TRAINYARD_OPERATOR_RECONCILE_GANG_H

#include "kube/resource.h"
#include "operator/kind/training_job.h"
#include "operator/reconcile/replica_state.h"

#define TRAINING_VOLCANO "volcano"
/* How Volcano and scheduler-plugins recognize the members of a group. */
#define TRAINING_VOLCANO_GROUP_ANNOTATION "scheduling.k8s.io/group-name"
#define TRAINING_COSCHEDULING_GROUP_LABEL "scheduling.x-k8s.io/pod-group"

struct training_gang {
    const char *scheduler;                /* the scheduler name for pods that have none */
    const struct kube_resource *resource; /* the resource of its PodGroups */
    bool admits_first;   /* pods are created only after the scheduler has admitted the group */
    const char *missing; /* why the server has no PodGroups; NULL: it has */
};

void training_gang_init(struct training_gang *gang, const char *scheduler);

/* Returns how many pods must exist before any starts: minAvailable, or else the replicas that the
 * job needs to start, limited to the pods that will exist. */
int training_gang_min_member(const struct training_job *job,
                             const struct training_replicas *replicas, int64_t now_ms);

/* Returns the PodGroup of the job. */
struct json *training_gang_group_new(struct arena *arena, const struct training_gang *gang,
                                     const struct training_job *job,
                                     const struct training_replicas *replicas, int64_t now_ms);
/* Returns the merge patch that turns `group` into the result of training_gang_group_new(); NULL if
 * nothing differs. */
struct json *training_gang_group_patch(struct arena *arena, const struct training_gang *gang,
                                       const struct training_job *job,
                                       const struct training_replicas *replicas, int64_t now_ms,
                                       const struct json *group);
/* Returns whether the scheduler allows the group's pods to be created. */
bool training_gang_group_is_admitted(const struct training_gang *gang, const struct json *group);

/* Marks a new pod as a member of the job's group. */
void training_gang_mark_pod(struct arena *arena, const struct training_gang *gang,
                            const struct training_job *job, enum training_replica_type type,
                            struct json *pod);
bool training_gang_has_marked(const struct training_gang *gang, const struct training_job *job,
                              const struct json *pod);

/* Reads the gang that a pod was marked for by any operator. Returns false if it was not marked. A
 * scheduler that the template names is not distinguished from the gang's. */
bool training_gang_of_pod(const struct training_job *job, const struct json *pod,
                          struct training_gang *ret);
/* Returns whether pods of both gangs wait for the same group with the same scheduler. */
bool training_gang_is_same(const struct training_gang *a, const struct training_gang *b,
                           const struct training_job *job, enum training_replica_type type);

/* Returns whether the template names a scheduler of its own, which is kept. */
bool training_gang_is_overridden(const struct training_gang *gang, const struct training_job *job,
                                 enum training_replica_type type);

#endif
