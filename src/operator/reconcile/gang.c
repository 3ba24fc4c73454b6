/* Builds PodGroups and marks their members; see gang.h. pod_group.c decides when. */
#include "operator/reconcile/gang.h"

#include "operator/reconcile/pod_amounts.h"
#include "operator/reconcile/restarts.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#define VOLCANO_TASK "volcano.sh/task-spec"

void training_gang_init(struct training_gang *gang, const char *scheduler)
{
    bool volcano = str_eq(scheduler, TRAINING_VOLCANO);

    *gang = (struct training_gang){
        .scheduler = scheduler,
        .resource = volcano ? &KUBE_VOLCANO_PODGROUPS : &KUBE_PODGROUPS,
        .admits_first = volcano,
    };
}

/* ---- The number of members ------------------------------------------------------------------- */

struct members {
    int counts[TRAINING_REPLICA_TYPES];
    int total;
};

/* Returns whether the replica has a pod or gets one now. A finished replica counts only while its
 * pod exists. A failed replica that is not restarted does not count. A replica in backoff does not
 * count, because it gets its pod later, and other replicas must not wait for it. */
static bool counts_as_member(const struct training_job *job, const struct training_replica *replica,
                             int64_t now_ms)
{
    if (!replica->has_pod)
        return !replica->finished && replica->retry_ms <= now_ms;
    return training_replica_judge(replica, job->replicas[replica->type].restart_policy) !=
           TRAINING_VERDICT_FAIL;
}

static struct members count_members(const struct training_job *job,
                                    const struct training_replicas *replicas, int64_t now_ms)
{
    struct members members = {0};

    for (size_t i = 0; i < replicas->count; i++) {
        const struct training_replica *replica = &replicas->items[i];

        if (!counts_as_member(job, replica, now_ms))
            continue;
        members.counts[replica->type]++;
        members.total++;
    }
    return members;
}

/* Returns the number of workers beyond those that the job needs to start. */
static int spare_workers(const struct training_job *job, const struct members *members)
{
    int workers = members->counts[TRAINING_WORKER];

    return job->workers_to_start >= 0 && workers > job->workers_to_start
               ? workers - job->workers_to_start
               : 0;
}

int training_gang_min_member(const struct training_job *job,
                             const struct training_replicas *replicas, int64_t now_ms)
{
    struct members members = count_members(job, replicas, now_ms);
    int64_t wanted = job->scheduling.min_available;

    if (wanted < 0)
        wanted = members.total - spare_workers(job, &members);
    /* If minAvailable is larger than the number of replicas and all replicas count, it is written
     * unchanged, and the group waits. */
    else if (wanted > members.total && (size_t)members.total < replicas->count)
        wanted = members.total;
    return wanted > 0 ? (int)wanted : 1;
}

/* Returns how many of the first minMember members each type has. The members are in the order of
 * the types, but spare workers come last. */
static struct members first_members(const struct training_job *job,
                                    const struct training_replicas *replicas, int64_t now_ms)
{
    struct members all = count_members(job, replicas, now_ms), first = {0};
    int spare = spare_workers(job, &all), wanted = training_gang_min_member(job, replicas, now_ms);

    all.counts[TRAINING_WORKER] -= spare;
    for (int type = 0; type <= TRAINING_REPLICA_TYPES; type++) {
        bool last = type == TRAINING_REPLICA_TYPES;
        int taken = last ? spare : all.counts[type];

        if (taken > wanted - first.total)
            taken = wanted - first.total;
        first.counts[last ? TRAINING_WORKER : type] += taken;
        first.total += taken;
    }
    return first;
}

/* ---- The group ------------------------------------------------------------------------------- */

/* Returns minResources of the spec, or else the requests of the first members. Returns NULL if
 * there are none. */
static struct json *min_resources(struct arena *arena, const struct training_job *job,
                                  const struct training_replicas *replicas, int64_t now_ms)
{
    struct training_amounts sum = {0};

    if (job->scheduling.min_resources)
        return json_clone(arena, job->scheduling.min_resources);
    struct members members = first_members(job, replicas, now_ms);
    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        struct training_amounts each =
            training_pod_amounts(arena, json_get(job->replicas[type].template, "spec"));

        for (int i = 0; i < members.counts[type]; i++)
            training_amounts_add(arena, &sum, &each);
    }
    return sum.count > 0 ? training_amounts_to_json(arena, &sum) : NULL;
}

static struct json *group_spec(struct arena *arena, const struct training_gang *gang,
                               const struct training_job *job,
                               const struct training_replicas *replicas, int64_t now_ms)
{
    const struct training_scheduling *policy = &job->scheduling;
    struct json *spec = json_object(arena),
                *resources = min_resources(arena, job, replicas, now_ms);

    json_set_int(arena, spec, "minMember", training_gang_min_member(job, replicas, now_ms));
    if (gang->admits_first) {
        json_set_string(arena, spec, "queue", policy->queue ? policy->queue : "default");
        if (policy->priority_class)
            json_set_string(arena, spec, "priorityClassName", policy->priority_class);
    } else if (policy->timeout_seconds >= 0) {
        json_set_int(arena, spec, "scheduleTimeoutSeconds", policy->timeout_seconds);
    }
    if (resources)
        json_set(arena, spec, "minResources", resources);
    return spec;
}

/* Returns whether an annotation of the job is copied to the group, because Volcano reads settings
 * from annotations. Annotations that kubectl and this operator write are not copied. */
static bool is_copied_annotation(const char *annotation)
{
    return !str_eq(annotation, "kubectl.kubernetes.io/last-applied-configuration") &&
           !str_has_prefix(annotation, "trainyard.dev/");
}

struct json *training_gang_group_new(struct arena *arena, const struct training_gang *gang,
                                     const struct training_job *job,
                                     const struct training_replicas *replicas, int64_t now_ms)
{
    struct json *group = kube_object_make(arena, gang->resource, job->namespace_, job->name);

    kube_meta_set_label(arena, group, TRAINING_OPERATOR_LABEL, job->kind->controller_name);
    kube_meta_set_label(arena, group, TRAINING_NAME_LABEL, job->name);
    if (gang->admits_first) {
        JSON_EACH (annotation, json_at(job->json, "metadata", "annotations", NULL)) {
            if (is_copied_annotation(annotation->name))
                kube_meta_set_annotation(arena, group, annotation->name, json_text(annotation));
        }
    }
    kube_meta_add_owner(arena, group, kube_owner_reference_new(arena, job->json, true));
    json_set(arena, group, "spec", group_spec(arena, gang, job, replicas, now_ms));
    return group;
}

/* Returns the patch of minResources. A merge patch keeps members that it does not name, so a
 * superfluous resource is set to null. */
static struct json *resources_patch(struct arena *arena, const struct json *wanted,
                                    const struct json *present)
{
    if (!wanted)
        return json_null(arena);
    struct json *patch = json_clone(arena, wanted);
    JSON_EACH (entry, present) {
        if (!json_get(wanted, entry->name))
            json_set(arena, patch, entry->name, json_null(arena));
    }
    return patch;
}

struct json *training_gang_group_patch(struct arena *arena, const struct training_gang *gang,
                                       const struct training_job *job,
                                       const struct training_replicas *replicas, int64_t now_ms,
                                       const struct json *group)
{
    /* The queue is left out, because the queue of a group does not change. */
    static const char *const names[] = {"minMember", "priorityClassName", "scheduleTimeoutSeconds"};
    const struct json *present = json_get(group, "spec");
    struct json *wanted = group_spec(arena, gang, job, replicas, now_ms);
    struct json *patch = json_object(arena), *spec = json_object(arena);

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const struct json *value = json_get(wanted, names[i]), *old = json_get(present, names[i]);
        bool nothing = !old || old->type == JSON_NULL || str_eq(json_text(old), "");

        if (value ? !json_equal(value, old) : !nothing)
            json_set(arena, spec, names[i], value ? json_clone(arena, value) : json_null(arena));
    }
    if (!training_amounts_equal(json_get(wanted, "minResources"),
                                json_get(present, "minResources")))
        json_set(arena, spec, "minResources",
                 resources_patch(arena, json_get(wanted, "minResources"),
                                 json_get(present, "minResources")));
    if (json_count(spec) == 0)
        return NULL;
    kube_meta_set_name(arena, patch, job->name);
    json_set_string(arena, json_get(patch, "metadata"), "uid", kube_meta_uid(group));
    json_set(arena, patch, "spec", spec);
    return patch;
}

bool training_gang_group_is_admitted(const struct training_gang *gang, const struct json *group)
{
    const char *phase = json_get_string(json_get(group, "status"), "phase", "");

    return !gang->admits_first || !(str_eq(phase, "") || str_eq(phase, "Pending"));
}

/* ---- The marks of pods ----------------------------------------------------------------------- */

void training_gang_mark_pod(struct arena *arena, const struct training_gang *gang,
                            const struct training_job *job, enum training_replica_type type,
                            struct json *pod)
{
    struct json *spec = json_get(pod, "spec");

    if (gang->admits_first) {
        kube_meta_set_annotation(arena, pod, TRAINING_VOLCANO_GROUP_ANNOTATION, job->name);
        kube_meta_set_annotation(arena, pod, VOLCANO_TASK, training_replica_type_lower(type));
    } else {
        kube_meta_set_label(arena, pod, TRAINING_COSCHEDULING_GROUP_LABEL, job->name);
    }
    if (str_is_empty(json_get_string(spec, "schedulerName", NULL)))
        json_set_string(arena, spec, "schedulerName", gang->scheduler);
}

bool training_gang_has_marked(const struct training_gang *gang, const struct training_job *job,
                              const struct json *pod)
{
    const char *mark = gang->admits_first
                           ? kube_meta_annotation(pod, TRAINING_VOLCANO_GROUP_ANNOTATION)
                           : kube_meta_label(pod, TRAINING_COSCHEDULING_GROUP_LABEL);

    return str_eq(mark, job->name);
}

bool training_gang_of_pod(const struct training_job *job, const struct json *pod,
                          struct training_gang *ret)
{
    bool volcano = str_eq(kube_meta_annotation(pod, TRAINING_VOLCANO_GROUP_ANNOTATION), job->name);

    if (!volcano && !str_eq(kube_meta_label(pod, TRAINING_COSCHEDULING_GROUP_LABEL), job->name))
        return false;
    *ret = (struct training_gang){
        .scheduler = json_get_string(json_get(pod, "spec"), "schedulerName", ""),
        .resource = volcano ? &KUBE_VOLCANO_PODGROUPS : &KUBE_PODGROUPS,
        .admits_first = volcano,
    };
    return true;
}

bool training_gang_is_same(const struct training_gang *a, const struct training_gang *b,
                           const struct training_job *job, enum training_replica_type type)
{
    const struct json *spec = json_get(job->replicas[type].template, "spec");

    return a->resource == b->resource &&
           (str_eq(a->scheduler, b->scheduler) ||
            !str_is_empty(json_get_string(spec, "schedulerName", NULL)));
}

bool training_gang_is_overridden(const struct training_gang *gang, const struct training_job *job,
                                 enum training_replica_type type)
{
    const struct json *spec = json_get(job->replicas[type].template, "spec");
    const char *name = json_get_string(spec, "schedulerName", NULL);

    return !str_is_empty(name) && !str_eq(name, gang->scheduler);
}
