/* The auditor; see training_audit.h. */
#include "training_audit.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/object.h"
#include "operator/conditions.h"
#include "operator/pod_view.h"
#include "operator/restarts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* How long the operator may be dead, deaf and unlucky. */
enum { NOTICE_MS = 60 * 1000 };

/* What became of one replica, over all its pods. */
struct replica_record {
    int made;
    char uid[40]; /* of the pod that was last seen */
    enum training_pod_phase phase;
    int64_t exit_code;
    int64_t restarts; /* in place, of the present pod */
    bool disrupted, leaving, gone;
    bool succeeded, failed, lost; /* ever */
    bool failed_below_128;        /* ever, by itself */
    int64_t succeeded_ms;         /* when; 0: not yet */
    bool known;                   /* its success was there for everyone to see, and long enough */
};

struct job_record {
    char *name;
    const char *end; /* its terminal condition, or NULL */
    bool disturbed;
    int64_t failures;    /* pods that failed or were lost, and restarts in place */
    struct map replicas; /* by the pod's name */
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

void training_audit_tell(struct training_audit *audit, const char *format, ...)
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

/* What matters of an object, in a line. */
static void tell_change(struct training_audit *audit, const struct kube_object *old,
                        const struct kube_object *new_)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct kube_object *object = new_ ? new_ : old;
    const struct json *metadata = json_get(object->json, "metadata");
    const struct json *policy = json_at(object->json, "spec", "runPolicy", NULL);

    training_audit_tell(audit, "%s %s version %s%s%s status %s annotations %s",
                        new_ && old ? "~" : (new_ ? "+" : "-"), object->name,
                        kube_meta_resource_version(object->json),
                        kube_meta_is_deleting(object->json) ? " leaving" : "",
                        json_get_bool(policy, "suspend", false) ? " suspended" : "",
                        json_to_string(arena, json_get(object->json, "status")),
                        json_to_string(arena, json_get(metadata, "annotations")));
}

static struct job_record *record_of(struct training_audit *audit, const char *uid, const char *name)
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

static struct replica_record *replica_of(struct job_record *job, const char *pod_name)
{
    struct replica_record *replica = map_get(&job->replicas, pod_name);

    if (!replica) {
        replica = mem_zalloc(sizeof(*replica));
        map_put(&job->replicas, pod_name, replica);
    }
    return replica;
}

static const struct training_kind *kind_of(struct training_audit *audit, const struct json *job)
{
    for (size_t i = 0; audit->kinds[i]; i++) {
        if (str_eq(audit->kinds[i]->name, json_get_string(job, "kind", "")))
            return audit->kinds[i];
    }
    return NULL;
}

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

/* Some replica failed in a way that its policy does not mend. */
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

static void audit_job(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct training_audit *audit = context;
    struct job_record *record;
    const struct json *status;
    struct training_job job;
    bool succeeded, failed;
    const char *end;

    tell_change(audit, old, new_);
    if (!new_)
        return;
    record = record_of(audit, new_->uid, new_->name);
    status = json_get(new_->json, "status");
    succeeded = training_condition_is_true(status, TRAINING_SUCCEEDED);
    failed = training_condition_is_true(status, TRAINING_FAILED);
    end = succeeded ? TRAINING_SUCCEEDED : failed ? TRAINING_FAILED : NULL;
    check(audit, !(succeeded && failed), "%s has succeeded and failed", new_->name);
    check(audit, !record->end || str_eq(record->end, end), "%s was %s and is %s", new_->name,
          record->end, end ? end : "going on");
    if (!end || record->end)
        return;
    record->end = end;
    audit->ended++;
    training_job_read(kind_of(audit, new_->json), new_->json, &job);
    if (succeeded)
        check(audit, success_is_due(record, &job), "%s succeeded, though its replicas did not",
              job.name);
    else
        check_failure(audit, record, &job, status);
}

/* ---- Pods ------------------------------------------------------------------------------------ */

static struct kube_object *owner_of(struct training_audit *audit, const struct json *object)
{
    const char *name = kube_meta_label(object, TRAINING_NAME_LABEL);
    struct kube_object *job = name ? training_audit_job(audit, name) : NULL;

    return job && kube_meta_is_controlled_by(object, job->uid) ? job : NULL;
}

/* The job says of the replica that it has finished. One that ended and was removed while nobody
 * looked need not be remembered. */
static bool is_remembered(const struct training_job *job, const struct kube_object *pod)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct training_replicas replicas;
    const struct training_replica *replica;

    training_replicas_init(&replicas, arena, job);
    training_memory_read(&replicas, job, arena);
    replica = training_replicas_find(&replicas, job, pod->json);
    return replica && replica->finished;
}

static int64_t host_port_of(struct training_audit *audit, const struct json *pod)
{
    for (size_t i = 0; audit->kinds[i]; i++) {
        const struct json *container =
            training_job_container(audit->kinds[i], json_get(pod, "spec"));

        if (container)
            return json_get_int(json_element(json_get(container, "ports"), 0), "hostPort", 0);
    }
    return 0;
}

/* A pod holds its ports until it has ended or is on its way out. */
static bool holds_ports(struct training_audit *audit, const struct json *pod)
{
    const char *phase = json_get_string(json_get(pod, "status"), "phase", "");

    return !str_eq(phase, "Succeeded") && !str_eq(phase, "Failed") && !kube_meta_is_deleting(pod) &&
           owner_of(audit, pod);
}

/* No two jobs listen on one port of the nodes. */
static void audit_host_port(struct training_audit *audit, const struct kube_object *pod)
{
    int64_t port = host_port_of(audit, pod->json);
    struct kube_object *other;

    for (size_t i = 0;
         port && !audit->rivals && (other = kube_informer_next(audit->pods, NULL, &i));)
        check(audit,
              str_eq(other->name, pod->name) || host_port_of(audit, other->json) != port ||
                  !holds_ports(audit, other->json),
              "%s and %s have the same port %d", other->name, pod->name, (int)port);
}

/* A replica gets a new pod only because the one before failed or was lost. */
static void audit_successor(struct training_audit *audit, const struct job_record *record,
                            const struct replica_record *replica, const struct training_job *job,
                            const struct kube_object *pod)
{
    if (replica->made == 0 || record->disturbed || job->restart_together || audit->rivals)
        return;
    check(audit, !replica->known && !is_remembered(job, pod), "%s had finished and runs again",
          pod->name);
    check(audit, replica->gone, "%s has two pods", pod->name);
    if (!audit->kills)
        check(audit, replica->phase == TRAINING_POD_FAILED,
              "%s was made again, though nothing had happened to it", pod->name);
}

/* A limit of N allows N pods more than there are replicas, not counting those that we killed. */
static void audit_limit(struct training_audit *audit, const struct job_record *record,
                        const struct training_job *job)
{
    const char *name;
    int64_t made = 0;
    void *replica;

    if (audit->kills || job->backoff_limit < 0 || record->disturbed || job->restart_together ||
        audit->rivals)
        return;
    for (size_t i = 0; map_next(&record->replicas, &i, &name, &replica);)
        made += ((struct replica_record *)replica)->made;
    check(audit, made <= training_job_total_replicas(job) + job->backoff_limit,
          "%s made pod number %d, its limit is %d", job->name, (int)made, (int)job->backoff_limit);
}

static void audit_new_pod(struct training_audit *audit, struct job_record *record,
                          struct replica_record *replica, const struct training_job *job,
                          const struct kube_object *pod)
{
    check(audit, !record->end || audit->rivals, "%s was made after the end of its job", pod->name);
    audit_host_port(audit, pod);
    audit_successor(audit, record, replica, job, pod);
    *replica = (struct replica_record){
        .made = replica->made + 1,
        .succeeded = replica->succeeded,
        .failed = replica->failed,
        .lost = replica->lost,
        .failed_below_128 = replica->failed_below_128,
        .known = replica->known,
    };
    str_copy(replica->uid, sizeof(replica->uid), pod->uid);
    audit_limit(audit, record, job);
}

static void note_state(struct job_record *record, struct replica_record *replica,
                       const struct training_pod *pod, int64_t now_ms)
{
    record->failures += pod->restarts - replica->restarts;
    replica->restarts = pod->restarts;
    replica->exit_code = pod->exit_code;
    replica->disrupted = pod->disrupted;
    if (pod->phase == replica->phase)
        return;
    replica->phase = pod->phase;
    if (pod->phase == TRAINING_POD_SUCCEEDED) {
        replica->succeeded = true;
        replica->succeeded_ms = now_ms;
    }
    if (pod->phase == TRAINING_POD_FAILED) {
        replica->failed = true;
        record->failures++;
        replica->failed_below_128 |= pod->exit_code < 128 && !pod->disrupted;
    }
}

static void audit_pod(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct training_audit *audit = context;
    const struct kube_object *object = new_ ? new_ : old;
    struct kube_object *owner = owner_of(audit, object->json);
    int64_t now_ms = loop_now_ms(audit->cluster->loop);
    struct replica_record *replica;
    struct job_record *record;
    struct training_job job;
    struct training_pod pod;

    tell_change(audit, old, new_);
    if (!owner) /* the garbage collector's */
        return;
    training_job_read(kind_of(audit, owner->json), owner->json, &job);
    training_pod_read(job.kind, object->json, &pod);
    record = record_of(audit, owner->uid, owner->name);
    replica = replica_of(record, object->name);
    if (new_ && !old)
        audit_new_pod(audit, record, replica, &job, new_);
    note_state(record, replica, &pod, now_ms);
    if (pod.phase == TRAINING_POD_RUNNING && !replica->leaving && (!new_ || pod.deleting_ms > 0)) {
        replica->leaving = replica->lost = true;
        record->failures++;
    }
    replica->gone = !new_;
    if (replica->gone && replica->succeeded_ms > 0)
        replica->known |= now_ms - replica->succeeded_ms > NOTICE_MS;
}

static void audit_service(void *context, struct kube_object *old, struct kube_object *new_)
{
}

/* ---- At rest --------------------------------------------------------------------------------- */

static void audit_orphans(struct training_audit *audit, struct kube_informer *informer)
{
    struct kube_object *object;

    for (size_t i = 0; (object = kube_informer_next(informer, NULL, &i));)
        check(audit, owner_of(audit, object->json), "%s belongs to no job", object->name);
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

static void audit_rest(struct training_audit *audit, const struct kube_object *object)
{
    struct job_record *record = record_of(audit, object->uid, object->name);
    const struct json *status = json_get(object->json, "status");
    const char *message =
        json_get_string(training_condition_get(status, TRAINING_FAILED), "message", "");
    bool limited = strstr(message, "backoff limit") || strstr(message, "active longer");
    struct training_job job;

    training_job_read(kind_of(audit, object->json), object->json, &job);
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
            audit_rest(audit, object);
    }
    audit_orphans(audit, audit->pods);
    audit_orphans(audit, audit->services);
    for (size_t i = 0; (object = kube_informer_next(audit->groups, NULL, &i));)
        check(audit, false, "PodGroup %s is left", object->name);
}

/* ---- Its life -------------------------------------------------------------------------------- */

void training_audit_init(struct training_audit *audit, struct sim_cluster *cluster, uint64_t seed,
                         const struct training_kind *const *kinds)
{
    *audit = (struct training_audit){.seed = seed, .cluster = cluster, .kinds = kinds};
    map_init(&audit->records);
    for (size_t i = 0; kinds[i]; i++)
        audit->jobs[i] =
            kube_informer_new(cluster->client, kinds[i]->resource, NULL, NULL, audit_job, audit);
    audit->pods =
        kube_informer_new(cluster->client, &KUBE_PODS, NULL, TRAINING_NAME_LABEL, audit_pod, audit);
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
    record_of(audit, uid, "")->disturbed = true;
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
