/* Gang scheduling: the pods of a job start all or none. The operator makes a PodGroup for each job
 * and marks the pods as its members; the scheduler named by the operator's option does the rest.
 * Volcano has a PodGroup of its own and admits a group before its pods are made; every other name
 * is taken for a scheduler with the coscheduling plugin of the scheduler-plugins, which is content
 * with a label on the pods. Pure. */
#ifndef TRAINYARD_OPERATOR_GANG_H
#define TRAINYARD_OPERATOR_GANG_H

#include "kube/resource.h"
#include "operator/kind/training_job.h"
#include "operator/reconcile/replica_state.h"

#define TRAINING_VOLCANO "volcano"
/* By what Volcano and the scheduler-plugins know the members of a group. */
#define TRAINING_VOLCANO_GROUP_ANNOTATION "scheduling.k8s.io/group-name"
#define TRAINING_COSCHEDULING_GROUP_LABEL "scheduling.x-k8s.io/pod-group"

struct training_gang {
    const char *scheduler;                /* put into pods that name none */
    const struct kube_resource *resource; /* its PodGroups */
    bool admits_first;                    /* no pod is made before the scheduler admits the group */
    const char *missing; /* why there can be no PodGroups on this server; NULL: there can */
};

void training_gang_init(struct training_gang *gang, const char *scheduler);

/* How many pods must be there before any starts: minAvailable, or else all replicas without which
 * the job does not start; but never more than are to come. */
int training_gang_min_member(const struct training_job *job,
                             const struct training_replicas *replicas, int64_t now_ms);

/* The PodGroup of the job. */
struct json *training_gang_group_new(struct arena *arena, const struct training_gang *gang,
                                     const struct training_job *job,
                                     const struct training_replicas *replicas, int64_t now_ms);
/* The merge patch that makes `group` say what training_gang_group_new() would; NULL: it does. */
struct json *training_gang_group_patch(struct arena *arena, const struct training_gang *gang,
                                       const struct training_job *job,
                                       const struct training_replicas *replicas, int64_t now_ms,
                                       const struct json *group);
/* The scheduler lets the pods of the group be made. */
bool training_gang_group_is_admitted(const struct training_gang *gang, const struct json *group);

/* Make a new pod a member of its job's group; and whether a pod is one. */
void training_gang_mark_pod(struct arena *arena, const struct training_gang *gang,
                            const struct training_job *job, enum training_replica_type type,
                            struct json *pod);
bool training_gang_has_marked(const struct training_gang *gang, const struct training_job *job,
                              const struct json *pod);

/* The gang that a pod was marked for, by whatever operator; false: none. A scheduler that its
 * template names is not told from the gang's. */
bool training_gang_of_pod(const struct training_job *job, const struct json *pod,
                          struct training_gang *ret);
/* Pods of both would wait for each other by the same scheduler, for the same group. */
bool training_gang_is_same(const struct training_gang *a, const struct training_gang *b,
                           const struct training_job *job, enum training_replica_type type);

/* The template names a scheduler of its own, which stays. */
bool training_gang_is_overridden(const struct training_gang *gang, const struct training_job *job,
                                 enum training_replica_type type);

#endif
