/* Checks pods: records the state of each replica, and fails if a pod is created that should not be.
 */
#include "training_audit_internal.h"

#include "base/str.h"
#include "kube/object.h"
#include "operator/reconcile/conditions.h"
#include "operator/reconcile/replica_state.h"
#include "operator/reconcile/restarts.h"

/* The longest time until an operator that was dead or saw late watches notices a change. */
enum { NOTICE_MS = 60 * 1000 };

/* Whether the job's status remembers that the replica has finished. The status may miss a replica
 * whose pod ended and was removed while no operator ran. */
static bool is_remembered(const struct training_job *job, const struct kube_object *pod)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct training_replicas replicas;

    training_replicas_init(&replicas, arena, job);
    training_restarts_read(&replicas, job, arena);
    const struct training_replica *replica = training_replicas_find(&replicas, job, pod->json);
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

/* A pod holds its ports until it has ended or is being deleted. */
static bool holds_ports(struct training_audit *audit, const struct json *pod)
{
    const char *phase = json_get_string(json_get(pod, "status"), "phase", "");

    return !str_eq(phase, "Succeeded") && !str_eq(phase, "Failed") && !kube_meta_is_deleting(pod) &&
           audit_owner_of(audit, pod);
}

/* Checks that no two jobs use the same port of a node. */
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

/* Checks that a replica gets a new pod only because the pod before failed or was lost. */
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

/* Checks the backoff limit: a limit of N allows N more pods than replicas. Pods that the test
 * killed do not count. */
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

static void begin_pod(const struct job_record *record, struct replica_record *replica,
                      const struct kube_object *pod)
{
    *replica = (struct replica_record){
        .made = replica->made + 1,
        .succeeded = replica->succeeded,
        .failed = replica->failed,
        .lost = replica->lost,
        .failed_below_128 = replica->failed_below_128,
        .known = replica->known,
        .suspensions = record->suspensions,
    };
    str_copy(replica->uid, sizeof(replica->uid), pod->uid);
}

static void audit_new_pod(struct training_audit *audit, struct job_record *record,
                          struct replica_record *replica, const struct training_job *job,
                          const struct kube_object *pod)
{
    check(audit, !record->end || audit->rivals, "%s was made after the end of its job", pod->name);
    audit_host_port(audit, pod);
    audit_successor(audit, record, replica, job, pod);
    begin_pod(record, replica, pod);
    audit_limit(audit, record, job);
}

/* Checks an adopted pod: the job must want this replica, and must not have created it already. */
static void audit_adopted(struct training_audit *audit, const struct job_record *record,
                          struct replica_record *replica, const struct training_job *job,
                          const struct kube_object *pod)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct training_replicas replicas;

    training_replicas_init(&replicas, arena, job);
    check(audit, !record->end || audit->rivals, "%s was adopted after the end of its job",
          pod->name);
    check(audit, training_replicas_named(&replicas, job, pod->name) || record->disturbed,
          "%s was adopted by %s, whose it cannot be", pod->name, job->name);
    check(audit, replica->made == 0 || replica->gone || str_eq(replica->uid, pod->uid),
          "%s has two pods, one adopted", pod->name);
    if (!str_eq(replica->uid, pod->uid))
        begin_pod(record, replica, pod);
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

/* Whether the pod leaves because of a suspension. That holds until the job reports that it was
 * resumed, but not for pods created since. */
static bool leaves_by_suspension(const struct job_record *record,
                                 const struct replica_record *replica,
                                 const struct training_job *job)
{
    const struct json *status = json_get(job->json, "status");

    return job->suspend || (training_condition_is_true(status, TRAINING_SUSPENDED) &&
                            replica->suspensions < record->suspensions);
}

void audit_pod(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct training_audit *audit = context;
    const struct kube_object *object = new_ ? new_ : old;
    struct kube_object *owner = audit_owner_of(audit, object->json);
    int64_t now_ms = loop_now_ms(audit->cluster->loop);
    struct training_job job;
    struct training_pod pod;

    audit_trace_change(audit, old, new_);
    if (!owner) /* the garbage collector deletes it */
        return;
    training_job_read(audit_kind_of(audit, owner->json), owner->json, &job);
    training_pod_read(job.kind, object->json, &pod);
    struct job_record *record = audit_record_of(audit, owner->uid, owner->name);
    struct replica_record *replica = audit_replica_of(record, object->name);
    if (new_ && !old)
        audit_new_pod(audit, record, replica, &job, new_);
    else if (new_ && !kube_meta_is_controlled_by(old->json, owner->uid))
        audit_adopted(audit, record, replica, &job, new_);
    note_state(record, replica, &pod, now_ms);
    if (pod.phase == TRAINING_POD_RUNNING && !replica->leaving && (!new_ || pod.deleting_ms > 0)) {
        replica->leaving = true;
        /* A pod that a suspension deletes is no failure of the job. */
        replica->lost = !leaves_by_suspension(record, replica, &job);
        record->failures += replica->lost;
    }
    replica->gone = !new_;
    if (replica->gone && replica->succeeded_ms > 0)
        replica->known |= now_ms - replica->succeeded_ms > NOTICE_MS;
}
