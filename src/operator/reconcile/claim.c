/* Plans the adoption and release of objects of a job. Like ReplicaSets and Jobs, the
 * operator adopts objects that have the job's labels but no controller, for example after a job was
 * deleted with --cascade=orphan and created again. The operator releases pods that the job controls
 * but that lost the job's labels, for example when a user takes a pod out to debug it. Both are
 * patches of one owner reference, which fail if the name now belongs to another object than at the
 * time of the decision. Pure; part of the reconcile. */
#include "operator/reconcile/reconcile_internal.h"

#include "operator/reconcile/gang.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

/* Returns a patch that adds or removes one owner reference. The server refuses the patch if another
 * object has the name by now. */
static struct json *patch_new(struct training_pass *pass, const struct json *object,
                              struct json *reference)
{
    struct json *patch = json_object(pass->arena);
    struct json *metadata = json_ensure_object(pass->arena, patch, "metadata");

    json_set_string(pass->arena, metadata, "name", kube_meta_name(object));
    json_set_string(pass->arena, metadata, "uid", kube_meta_uid(object));
    json_append(json_ensure_array(pass->arena, metadata, "ownerReferences"), reference);
    return patch;
}

static void claim_adopt(struct training_pass *pass, enum training_action_type type,
                        const struct json *object)
{
    struct json *patch =
        patch_new(pass, object, kube_owner_reference_new(pass->arena, pass->job.json, true));

    /* PodGroups are custom resources, and a patch replaces their lists as a whole. So the patch is
     * conditional on the version that was read. */
    if (type == TRAINING_ADOPT_POD_GROUP)
        json_set_string(pass->arena, json_get(patch, "metadata"), "resourceVersion",
                        kube_meta_resource_version(object));
    training_plan_add(pass->plan, type, patch);
}

void training_pass_release(struct training_pass *pass)
{
    for (size_t i = 0; i < pass->observed->unmatched_count; i++) {
        const struct json *pod = pass->observed->unmatched[i];
        struct json *reference = json_object(pass->arena);

        if (!kube_meta_is_controlled_by(pod, pass->job.uid) || kube_meta_is_deleting(pod))
            continue;
        json_set_string(pass->arena, reference, "$patch", "delete");
        json_set_string(pass->arena, reference, "uid", pass->job.uid);
        training_plan_add(pass->plan, TRAINING_RELEASE_POD, patch_new(pass, pod, reference));
    }
}

static bool is_orphan(const struct training_pass *pass, const struct json *object)
{
    enum training_replica_type type;
    int64_t index;

    return !kube_meta_controller(object) && !kube_meta_is_deleting(object) &&
           training_job_matches(&pass->job, object, &type, &index);
}

static bool claimed_pod_has_ended(const struct training_pass *pass, const struct json *json)
{
    struct training_pod pod;

    training_pod_read(pass->job.kind, json, &pod);
    return pod.phase == TRAINING_POD_SUCCEEDED || pod.phase == TRAINING_POD_FAILED;
}

static size_t count_orphans(const struct training_pass *pass, bool ended)
{
    size_t count = 0;

    for (size_t i = 0; i < pass->observed->pod_count; i++)
        count += is_orphan(pass, pass->observed->pods[i]) &&
                 claimed_pod_has_ended(pass, pass->observed->pods[i]) == ended;
    return count;
}

/* Adopts the orphaned pods if at least one of them lives. The ended ones then belong to the same
 * job: they are its finished replicas. If all orphaned pods have ended, they count as pods of an
 * earlier job and are left alone, because the success of that job does not count for this one.
 * Ended pods are adopted in an earlier reconcile than live pods. Otherwise, after an interrupted
 * adoption, the rest could be ended pods only, which would be taken for pods of an earlier job. */
static void adopt_pods(struct training_pass *pass)
{
    bool ended = count_orphans(pass, true) > 0;

    if (count_orphans(pass, false) == 0)
        return;
    for (size_t i = 0; i < pass->observed->pod_count; i++) {
        const struct json *pod = pass->observed->pods[i];

        if (is_orphan(pass, pod) && claimed_pod_has_ended(pass, pod) == ended)
            claim_adopt(pass, TRAINING_ADOPT_POD, pod);
    }
}

static void adopt_group(struct training_pass *pass)
{
    const struct json *group = pass->observed->pod_group;

    if (pass->observed->gang && group && !kube_meta_is_deleting(group) &&
        str_eq(kube_meta_label(group, TRAINING_OPERATOR_LABEL), pass->job.kind->controller_name) &&
        str_eq(kube_meta_label(group, TRAINING_NAME_LABEL), pass->job.name) &&
        json_count(json_at(group, "metadata", "ownerReferences", NULL)) == 0)
        claim_adopt(pass, TRAINING_ADOPT_POD_GROUP, group);
}

bool training_pass_adopt(struct training_pass *pass)
{
    size_t before = pass->plan->action_count;

    adopt_pods(pass);
    for (size_t i = 0; i < pass->observed->service_count; i++) {
        if (is_orphan(pass, pass->observed->services[i]))
            claim_adopt(pass, TRAINING_ADOPT_SERVICE, pass->observed->services[i]);
    }
    adopt_group(pass);
    return pass->plan->action_count > before;
}
