/* Shared by the parts of the auditor: its records, and failing with the seed. */
#ifndef TRAINYARD_TESTS_SIM_TRAINING_AUDIT_INTERNAL_H
#define TRAINYARD_TESTS_SIM_TRAINING_AUDIT_INTERNAL_H

#include "training_audit.h"

#include "operator/reconcile/pod_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The record of one replica over all its pods. */
struct replica_record {
    int made;
    char uid[40]; /* uid of the last pod */
    enum training_pod_phase phase;
    int64_t exit_code;
    int64_t restarts; /* restarts in place of the present pod */
    bool disrupted, leaving, gone;
    bool succeeded, failed, lost; /* at any time */
    bool failed_below_128;        /* at any time, without a kill */
    int64_t succeeded_ms;         /* time of success; 0: not yet */
    bool known;                   /* its success was visible long enough for every operator */
    int suspensions;              /* suspensions of the job when the present pod was created */
};

struct job_record {
    char *name;
    const char *end; /* its terminal condition, or NULL */
    bool disturbed;
    int suspensions;     /* number so far */
    int64_t failures;    /* pods that failed or were lost, and restarts in place */
    struct map replicas; /* by pod name */
};

#define check(audit, condition, ...)                                                               \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("seed %llu (again: TRAINYARD_SIM_SEED=%llu "                               \
                        "build/tests/sim/test_sim_training_faults): ",                             \
                        (unsigned long long)(audit)->seed, (unsigned long long)(audit)->seed);     \
            fail_msg(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

struct job_record *audit_record_of(struct training_audit *audit, const char *uid, const char *name);
struct replica_record *audit_replica_of(struct job_record *job, const char *pod_name);
const struct training_kind *audit_kind_of(struct training_audit *audit, const struct json *job);
/* Returns the job that the object belongs to, if it still exists. */
struct kube_object *audit_owner_of(struct training_audit *audit, const struct json *object);
void audit_trace_change(struct training_audit *audit, const struct kube_object *old,
                        const struct kube_object *new_);

/* training_audit_pod.c: handles an informer's change. */
void audit_pod(void *context, struct kube_object *old, struct kube_object *new_);
/* training_audit_end.c: checks a job that has just ended. */
void audit_end(struct training_audit *audit, const struct job_record *record,
               const struct training_job *job, const struct json *status);

#endif
