/* The auditor of a simulated cluster: it sees every job, pod and service through informers that
 * lose nothing, writes down what became of each replica, and fails the test where something is that
 * must not be. What it checks it works out by itself from the pods it saw, not with the operator's
 * own judgement. */
#ifndef TRAINYARD_TESTS_SIM_TRAINING_AUDIT_H
#define TRAINYARD_TESTS_SIM_TRAINING_AUDIT_H

#include "base/map.h"
#include "kube/client/informer.h"
#include "operator/kind/training_job.h"
#include "sim_cluster.h"

enum { AUDIT_KINDS_MAX = 4 };

struct training_audit {
    uint64_t seed;
    struct sim_cluster *cluster;
    const struct training_kind *const *kinds; /* NULL-terminated */
    struct kube_informer *jobs[AUDIT_KINDS_MAX], *pods, *services, *groups;
    struct map records; /* struct job_record, by the job's uid */
    size_t ended;       /* jobs that have, of those that exist or existed */
    bool kills;         /* pods are killed from outside, so more of them are made */
    bool rivals;        /* two operators at once: one may act on what the other has just changed */
};

void training_audit_init(struct training_audit *audit, struct sim_cluster *cluster, uint64_t seed,
                         const struct training_kind *const *kinds);
void training_audit_release(struct training_audit *audit);

/* With TRAINYARD_SIM_TRACE set, print what happens and when: the story of a seed. */
void training_audit_tell(struct training_audit *audit, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The job is changed from outside (scaled, suspended): its replicas may start anew. */
void training_audit_disturb(struct training_audit *audit, const char *uid);

/* A job of this name and kind, as it is now; or NULL. */
struct kube_object *training_audit_job(struct training_audit *audit, const char *name);
bool training_audit_has_ended(struct training_audit *audit, const char *uid);

/* Everything has come to rest: every job has ended, left what its policy says, nothing belongs to
 * a job that is gone, and no PodGroup is left. */
void training_audit_end(struct training_audit *audit);

#endif
