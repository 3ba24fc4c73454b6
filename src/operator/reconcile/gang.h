/* Implements the operator's side of gang scheduling: no pod of a job starts before the required
 * number of its pods can start (training_gang_min_member()). The operator creates a PodGroup per
 * job and marks the pods as members. The scheduler that the option
 * --gang-scheduler-name names starts the pods of a group together. Volcano has its own PodGroup and
 * admits a group before its pods are created. Any other name means a scheduler with the
 * coscheduling plugin of scheduler-plugins, which needs only a label on the pods. Pure. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_GANG_H
#define TRAINYARD_OPERATOR_RECONCILE_GANG_H

#include "kube/resource.h"
#include "operator/kind/training_job.h"
#include "operator/reconcile/replica_state.h"

#define TRAINING_VOLCANO "volcano"
/* Volcano recognizes the members of a group by the annotation, scheduler-plugins by the label. */
#define TRAINING_VOLCANO_GROUP_ANNOTATION "scheduling.k8s.io/group-name"
#define TRAINING_COSCHEDULING_GROUP_LABEL "scheduling.x-k8s.io/pod-group"

struct training_gang {
    const char *scheduler;                /* the scheduler name for pods that have none */
    const struct kube_resource *resource; /* the resource of the scheduler's PodGroups */
    bool admits_first;   /* pods are created only after the scheduler has admitted the group */
    const char *missing; /* why the operator cannot use PodGroups; NULL: no reason is known */
};

/* `scheduler` must outlive the gang. */
void training_gang_init(struct training_gang *gang, const char *scheduler);

/* Returns how many pods must exist before any pod starts. This is minAvailable or, if that is not
 * set, the number of replicas that the job needs to start. If some replicas do not count, because
 * they have finished and their pods are gone, have failed for good or are in backoff, minAvailable
 * is limited to the number of the other replicas. The result is at least 1. */
int training_gang_min_member(const struct training_job *job,
                             const struct training_replicas *replicas, int64_t now_ms);

/* Returns the PodGroup of the job. */
struct json *training_gang_group_new(struct arena *arena, const struct training_gang *gang,
                                     const struct training_job *job,
                                     const struct training_replicas *replicas, int64_t now_ms);
/* Returns the merge patch that updates minMember, priorityClassName, scheduleTimeoutSeconds and
 * minResources of `group`, or NULL if these are up to date. Other fields are not changed. */
struct json *training_gang_group_patch(struct arena *arena, const struct training_gang *gang,
                                       const struct training_job *job,
                                       const struct training_replicas *replicas, int64_t now_ms,
                                       const struct json *group);
/* Returns whether the scheduler allows the group's pods to be created. */
bool training_gang_group_is_admitted(const struct training_gang *gang, const struct json *group);

/* Marks a new pod as a member of the job's group. Sets the pod's scheduler, unless the template
 * names one. */
void training_gang_mark_pod(struct arena *arena, const struct training_gang *gang,
                            const struct training_job *job, enum training_replica_type type,
                            struct json *pod);
/* Returns whether the pod has this gang's mark for the job. */
bool training_gang_has_marked(const struct training_gang *gang, const struct training_job *job,
                              const struct json *pod);

/* Reads the gang for which this or another operator has marked a pod. Returns false if the pod has
 * no mark. ret->scheduler is the scheduler of the pod, even if the template named it. */
bool training_gang_of_pod(const struct training_job *job, const struct json *pod,
                          struct training_gang *ret);
/* Returns whether a pod of this type would get the same kind of PodGroup and the same scheduler
 * from both gangs. If the template names a scheduler, only the kinds of the PodGroups are compared.
 * */
bool training_gang_is_same(const struct training_gang *a, const struct training_gang *b,
                           const struct training_job *job, enum training_replica_type type);

/* Returns whether the template names another scheduler than the gang's. The pods keep it. */
bool training_gang_is_overridden(const struct training_gang *gang, const struct training_job *job,
                                 enum training_replica_type type);

#endif
