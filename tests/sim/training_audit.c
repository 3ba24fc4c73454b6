/* The auditor; see training_audit.h. This file has its records, its informers and the checks of
 * jobs; training_audit_pod.c checks pods, training_audit_end.c the ends of jobs. */
#include "training_audit_internal.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "operator/reconcile/conditions.h"

#include <stdio.h>
#include <stdlib.h>

void training_audit_trace(struct training_audit *audit, const char *format, ...)
{
    va_list args;

    if (!getenv("TRAINYARD_SIM_TRACE"))
        return;
    fprintf(stderr, "%9.3f ", (double)loop_now_ms(audit->cluster->loop) / 1000);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* Prints the important fields of an object in one line. */
void audit_trace_change(struct training_audit *audit, const struct kube_object *old,
                        const struct kube_object *new_)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct kube_object *object = new_ ? new_ : old;
    const struct json *metadata = json_get(object->json, "metadata");
    const struct json *policy = json_at(object->json, "spec", "runPolicy", NULL);

    training_audit_trace(audit, "%s %s version %s%s%s status %s annotations %s",
                         new_ && old ? "~" : (new_ ? "+" : "-"), object->name,
                         kube_meta_resource_version(object->json),
                         kube_meta_is_deleting(object->json) ? " leaving" : "",
                         json_get_bool(policy, "suspend", false) ? " suspended" : "",
                         json_to_string(arena, json_get(object->json, "status")),
                         json_to_string(arena, json_get(metadata, "annotations")));
}

struct job_record *audit_record_of(struct training_audit *audit, const char *uid, const char *name)
{
    struct job_record *record = map_get(&audit->records, uid);

    if (record)
        return record;
    record = mem_zalloc(sizeof(*record));
    record->name = mem_strdup(name);
    map_init(&record->replicas);
    map_put(&audit->records, uid, record);
    return record;
}

struct replica_record *audit_replica_of(struct job_record *job, const char *pod_name)
{
    struct replica_record *replica = map_get(&job->replicas, pod_name);

    if (!replica) {
        replica = mem_zalloc(sizeof(*replica));
        map_put(&job->replicas, pod_name, replica);
    }
    return replica;
}

const struct training_kind *audit_kind_of(struct training_audit *audit, const struct json *job)
{
    for (size_t i = 0; audit->kinds[i]; i++) {
        if (str_eq(audit->kinds[i]->row->id.kind, json_get_string(job, "kind", "")))
            return audit->kinds[i];
    }
    return NULL;
}

struct kube_object *audit_owner_of(struct training_audit *audit, const struct json *object)
{
    const char *name = json_get_string(kube_meta_controller(object), "name", NULL);
    struct kube_object *job = name ? training_audit_job(audit, name) : NULL;

    return job && kube_meta_is_controlled_by(object, job->uid) ? job : NULL;
}

static bool is_suspended(const struct kube_object *job)
{
    return json_get_bool(json_at(job->json, "spec", "runPolicy", NULL), "suspend", false);
}

static void audit_job(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct training_audit *audit = context;
    const struct json *status;
    struct training_job job;

    audit_trace_change(audit, old, new_);
    if (!new_)
        return;
    struct job_record *record = audit_record_of(audit, new_->uid, new_->name);
    record->suspensions += is_suspended(new_) && !(old && is_suspended(old));
    status = json_get(new_->json, "status");
    bool succeeded = training_condition_is_true(status, TRAINING_SUCCEEDED);
    bool failed = training_condition_is_true(status, TRAINING_FAILED);
    const char *end = succeeded ? TRAINING_SUCCEEDED : failed ? TRAINING_FAILED : NULL;
    check(audit, !(succeeded && failed), "%s has succeeded and failed", new_->name);
    check(audit, !record->end || str_eq(record->end, end), "%s was %s and is %s", new_->name,
          record->end, end ? end : "going on");
    if (!end || record->end)
        return;
    record->end = end;
    audit->ended++;
    training_job_read(audit_kind_of(audit, new_->json), new_->json, &job);
    audit_end(audit, record, &job, status);
}

static void audit_service(void *context, struct kube_object *old, struct kube_object *new_)
{
}

/* ---- Lifetime -------------------------------------------------------------------------------- */

void training_audit_init(struct training_audit *audit, struct sim_cluster *cluster, uint64_t seed,
                         const struct training_kind *const *kinds)
{
    *audit = (struct training_audit){.seed = seed, .cluster = cluster, .kinds = kinds};
    map_init(&audit->records);
    for (size_t i = 0; kinds[i]; i++)
        audit->jobs[i] =
            kube_informer_new(cluster->client, kinds[i]->resource, NULL, NULL, audit_job, audit);
    /* No label selector: a test may remove the labels. */
    audit->pods = kube_informer_new(cluster->client, &KUBE_PODS, NULL, NULL, audit_pod, audit);
    audit->services = kube_informer_new(cluster->client, &KUBE_SERVICES, NULL, TRAINING_NAME_LABEL,
                                        audit_service, audit);
    audit->groups =
        kube_informer_new(cluster->client, &KUBE_PODGROUPS, NULL, NULL, audit_service, audit);
}

void training_audit_release(struct training_audit *audit)
{
    const char *key;
    void *record, *replica;

    for (size_t i = 0; audit->kinds[i]; i++)
        kube_informer_free(audit->jobs[i]);
    kube_informer_free(audit->pods);
    kube_informer_free(audit->services);
    kube_informer_free(audit->groups);
    for (size_t i = 0; map_next(&audit->records, &i, &key, &record);) {
        struct job_record *job = record;

        for (size_t j = 0; map_next(&job->replicas, &j, &key, &replica);)
            free(replica);
        map_release(&job->replicas);
        free(job->name);
        free(job);
    }
    map_release(&audit->records);
}

void training_audit_disturb(struct training_audit *audit, const char *uid)
{
    audit_record_of(audit, uid, "")->disturbed = true;
}

struct kube_object *training_audit_job(struct training_audit *audit, const char *name)
{
    struct kube_object *job = NULL;

    for (size_t i = 0; audit->kinds[i] && !job; i++)
        job = kube_informer_get(audit->jobs[i], "default", name);
    return job;
}

bool training_audit_has_ended(struct training_audit *audit, const char *uid)
{
    const struct job_record *record = map_get(&audit->records, uid);

    return record && record->end;
}
