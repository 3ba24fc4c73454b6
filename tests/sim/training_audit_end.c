/* Checks how jobs end: whether the end was due, given the replicas, and what is left at the end. */
#include "training_audit_internal.h"

#include "base/moment.h"
#include "base/str.h"
#include "kube/object.h"
#include "operator/reconcile/conditions.h"

#include <string.h>

/* ---- The end of a job ------------------------------------------------------------------------ */

static struct replica_record *replica_at(const struct job_record *record,
                                         const struct training_job *job,
                                         enum training_replica_type type, int index)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();

    return map_get(&record->replicas, training_replica_name(arena, job, type, index));
}

static bool did_succeed(const struct job_record *record, const struct training_job *job,
                        enum training_replica_type type, int index)
{
    const struct replica_record *replica = replica_at(record, job, type, index);

    return replica && replica->succeeded;
}

static bool all_succeeded(const struct job_record *record, const struct training_job *job,
                          enum training_replica_type type)
{
    for (int i = 0; i < job->replicas[type].replicas; i++) {
        if (!did_succeed(record, job, type, i))
            return false;
    }
    return true;
}

static bool success_is_due(const struct job_record *record, const struct training_job *job)
{
    if (job->replicas[TRAINING_CHIEF].present)
        return all_succeeded(record, job, TRAINING_CHIEF);
    if (job->replicas[TRAINING_MASTER].present)
        return all_succeeded(record, job, TRAINING_MASTER);
    if (all_succeeded(record, job, TRAINING_WORKER))
        return true;
    for (int i = 0;
         job->success == TRAINING_SUCCESS_ANY_WORKER && i < job->replicas[TRAINING_WORKER].replicas;
         i++) {
        if (did_succeed(record, job, TRAINING_WORKER, i))
            return true;
    }
    return job->success == TRAINING_SUCCESS_WORKER_0 &&
           did_succeed(record, job, TRAINING_WORKER, 0);
}

/* Whether a replica failed in a way that its restart policy does not cover. */
static bool failure_is_due(const struct job_record *record, const struct training_job *job)
{
    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        for (int i = 0; i < job->replicas[type].replicas; i++) {
            const struct replica_record *replica =
                replica_at(record, job, (enum training_replica_type)type, i);

            if (!replica)
                continue;
            if (job->replicas[type].restart_policy == TRAINING_RESTART_NEVER &&
                (replica->failed || replica->lost))
                return true;
            if (job->replicas[type].restart_policy == TRAINING_RESTART_EXIT_CODE &&
                replica->failed_below_128)
                return true;
        }
    }
    return false;
}

static int64_t time_of(const struct json *status, const char *name)
{
    int64_t ms = -1;

    if (moment_parse(json_get_string(status, name, ""), &ms, NULL) < 0)
        return -1;
    return ms;
}

static void check_failure(struct training_audit *audit, const struct job_record *record,
                          const struct training_job *job, const struct json *status)
{
    const char *message =
        json_get_string(training_condition_get(status, TRAINING_FAILED), "message", "");

    if (strstr(message, "backoff limit")) {
        check(audit, job->backoff_limit >= 0, "%s has no backoff limit: %s", job->name, message);
        check(audit, record->failures >= (job->backoff_limit > 0 ? job->backoff_limit : 1),
              "%s reached its limit of %d with %d failures", job->name, (int)job->backoff_limit,
              (int)record->failures);
    } else if (strstr(message, "active longer")) {
        int64_t active_ms = time_of(status, "completionTime") - time_of(status, "startTime");

        check(audit, job->deadline_seconds >= 0 && active_ms >= job->deadline_seconds * 1000,
              "%s was active %d s, its deadline is %d s", job->name, (int)(active_ms / 1000),
              (int)job->deadline_seconds);
    } else {
        check(audit, failure_is_due(record, job), "%s failed, though no replica did for good: %s",
              job->name, message);
    }
}

void audit_end(struct training_audit *audit, const struct job_record *record,
               const struct training_job *job, const struct json *status)
{
    if (str_eq(record->end, TRAINING_FAILED))
        check_failure(audit, record, job, status);
    else
        check(audit, success_is_due(record, job), "%s succeeded, though its replicas did not",
              job->name);
}

/* ---- The final state ------------------------------------------------------------------------- */

static void audit_orphans(struct training_audit *audit, struct kube_informer *informer)
{
    struct kube_object *object;

    for (size_t i = 0; (object = kube_informer_next(informer, NULL, &i));)
        check(audit, audit_owner_of(audit, object->json), "%s belongs to no job", object->name);
}

static size_t count_of_job(struct kube_informer *informer, const char *job, bool only_active)
{
    struct kube_object *object;
    size_t count = 0;

    for (size_t i = 0; (object = kube_informer_next(informer, NULL, &i));) {
        const char *phase = json_get_string(json_get(object->json, "status"), "phase", "");

        if (!str_eq(kube_meta_label(object->json, TRAINING_NAME_LABEL), job))
            continue;
        count += !only_active || str_eq(phase, "Running") || str_eq(phase, "Pending");
    }
    return count;
}

static void audit_final_state(struct training_audit *audit, const struct kube_object *object)
{
    struct job_record *record = audit_record_of(audit, object->uid, object->name);
    const struct json *status = json_get(object->json, "status");
    const char *message =
        json_get_string(training_condition_get(status, TRAINING_FAILED), "message", "");
    bool limited = strstr(message, "backoff limit") || strstr(message, "active longer");
    struct training_job job;

    training_job_read(audit_kind_of(audit, object->json), object->json, &job);
    check(audit, record->end, "%s has not ended: %s", job.name,
          json_to_string(object->arena, status));
    check(audit, job.ttl_seconds < 0, "%s should be gone", job.name);
    if (job.clean_policy == TRAINING_CLEAN_ALL) {
        check(audit, count_of_job(audit->pods, job.name, false) == 0, "%s left pods", job.name);
        check(audit, count_of_job(audit->services, job.name, false) == 0, "%s left services",
              job.name);
    } else if (job.clean_policy == TRAINING_CLEAN_RUNNING || limited) {
        check(audit, count_of_job(audit->pods, job.name, true) == 0, "%s left running pods",
              job.name);
    }
}

void training_audit_end(struct training_audit *audit)
{
    struct kube_object *object;

    for (size_t kind = 0; audit->kinds[kind]; kind++) {
        for (size_t i = 0; (object = kube_informer_next(audit->jobs[kind], NULL, &i));)
            audit_final_state(audit, object);
    }
    audit_orphans(audit, audit->pods);
    audit_orphans(audit, audit->services);
    for (size_t i = 0; (object = kube_informer_next(audit->groups, NULL, &i));)
        check(audit, false, "PodGroup %s is left", object->name);
}
