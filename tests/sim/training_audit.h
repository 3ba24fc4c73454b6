/* The auditor of a simulated cluster: watches every job, pod and service through informers without
 * faults, records the state of each replica, and fails the test if a rule is broken. It derives its
 * checks from the pods that it saw, not from the operator's decisions. */
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
    size_t ended;       /* jobs that have ended, of all jobs so far */
    bool kills;         /* pods are killed from outside, so more of them are created */
    bool rivals;        /* two operators run: one may act on what the other has just changed */
};

void training_audit_init(struct training_audit *audit, struct sim_cluster *cluster, uint64_t seed,
                         const struct training_kind *const *kinds);
void training_audit_release(struct training_audit *audit);

/* With TRAINYARD_SIM_TRACE set, prints what happens and when. */
void training_audit_trace(struct training_audit *audit, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The job is changed from outside (scaled, suspended): its replicas may start again. */
void training_audit_disturb(struct training_audit *audit, const char *uid);

/* Returns the present job of this name and kind, or NULL. */
struct kube_object *training_audit_job(struct training_audit *audit, const char *name);
bool training_audit_has_ended(struct training_audit *audit, const char *uid);

/* Checks the final state: every job has ended and left what its policy says, no object belongs to a
 * deleted job, and no PodGroup is left. */
void training_audit_end(struct training_audit *audit);

#endif
