/* Runs the informers of one kind of job; see job_watch.h. */
#include "operator/controller/job_watch.h"

#include "operator/kind/training_job.h"

#include "base/mem.h"
#include "base/str.h"

/* The fields of pods and services that are used. Other fields are dropped to save memory: there may
 * be thousands of pods, and each contains the addresses of all its peers. */
static const char *const POD_FIELDS[] = {
    "metadata.creationTimestamp",
    "metadata.deletionTimestamp",
    ("metadata.annotations." TRAINING_VOLCANO_GROUP_ANNOTATION),
    ("metadata.labels." TRAINING_COSCHEDULING_GROUP_LABEL),
    ("metadata.labels." TRAINING_INDEX_LABEL),
    ("metadata.labels." TRAINING_NAME_LABEL),
    ("metadata.labels." TRAINING_OPERATOR_LABEL),
    ("metadata.labels." TRAINING_ROLE_LABEL),
    ("metadata.labels." TRAINING_TYPE_LABEL),
    "metadata.ownerReferences.controller",
    "metadata.ownerReferences.name",
    "metadata.ownerReferences.uid",
    "spec.containers.ports.containerPort",
    "spec.containers.ports.hostPort",
    "spec.containers.ports.name",
    "spec.nodeName",
    "spec.schedulerName",
    "status.conditions.lastTransitionTime",
    "status.conditions.message",
    "status.conditions.reason",
    "status.conditions.status",
    "status.conditions.type",
    "status.containerStatuses.lastState.terminated.exitCode",
    "status.containerStatuses.lastState.terminated.reason",
    "status.containerStatuses.name",
    "status.containerStatuses.restartCount",
    "status.containerStatuses.state.terminated.exitCode",
    "status.containerStatuses.state.terminated.message",
    "status.containerStatuses.state.terminated.reason",
    "status.containerStatuses.state.waiting.message",
    "status.containerStatuses.state.waiting.reason",
    "status.initContainerStatuses.lastState.terminated.exitCode",
    "status.initContainerStatuses.lastState.terminated.reason",
    "status.initContainerStatuses.name",
    "status.initContainerStatuses.restartCount",
    "status.initContainerStatuses.state.terminated.exitCode",
    "status.initContainerStatuses.state.terminated.message",
    "status.initContainerStatuses.state.terminated.reason",
    "status.initContainerStatuses.state.waiting.message",
    "status.initContainerStatuses.state.waiting.reason",
    "status.message",
    "status.phase",
    "status.podIP",
    "status.reason",
    NULL,
};
/* The fields of jobs that are used. managedFields and other metadata are dropped. */
static const char *const JOB_FIELDS[] = {
    "kind",
    "metadata.annotations",
    "metadata.creationTimestamp",
    "metadata.deletionTimestamp",
    "metadata.finalizers",
    "metadata.generation",
    "metadata.labels",
    "metadata.ownerReferences",
    "spec",
    "status",
    NULL,
};
static const char *const SERVICE_FIELDS[] = {
    "metadata.deletionTimestamp",
    ("metadata.labels." TRAINING_INDEX_LABEL),
    ("metadata.labels." TRAINING_NAME_LABEL),
    ("metadata.labels." TRAINING_OPERATOR_LABEL),
    ("metadata.labels." TRAINING_TYPE_LABEL),
    "metadata.ownerReferences.controller",
    "metadata.ownerReferences.uid",
    NULL,
};

static void on_pod_changed(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct job_watch *watch = context;

    watch->part_changed(watch->context, JOB_PODS, old, new_);
}

static void on_service(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct job_watch *watch = context;

    watch->part_changed(watch->context, JOB_SERVICES, old, new_);
}

static void on_pod_group(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct job_watch *watch = context;

    watch->part_changed(watch->context, JOB_POD_GROUPS, old, new_);
}

void job_watch_start(struct job_watch *watch, struct kube_client *client,
                     const struct training_kind *kind,
                     const struct training_controller_options *options,
                     kube_informer_change *job_changed, job_watch_part_change *part_changed,
                     void *context)
{
    const char *namespace_ = options->namespace_;

    *watch = (struct job_watch){.kind = kind, .part_changed = part_changed, .context = context};
    watch->jobs = kube_informer_new(client, kind->resource, namespace_, NULL, job_changed, context);
    kube_informer_keep(watch->jobs, JOB_FIELDS);
    watch->pods =
        kube_informer_new(client, &KUBE_PODS, namespace_, kind->selector, on_pod_changed, watch);
    kube_informer_keep(watch->pods, POD_FIELDS);
    watch->services =
        kube_informer_new(client, &KUBE_SERVICES, namespace_, kind->selector, on_service, watch);
    kube_informer_keep(watch->services, SERVICE_FIELDS);
    if (!str_is_empty(options->gang_scheduler))
        watch->gang =
            gang_watch_new(client, kind, namespace_, options->gang_scheduler, on_pod_group, watch);
}

void job_watch_stop(struct job_watch *watch)
{
    kube_informer_free(watch->jobs);
    kube_informer_free(watch->pods);
    kube_informer_free(watch->services);
    gang_watch_free(watch->gang);
}

void job_watch_resync(struct job_watch *watch)
{
    kube_informer_resync(watch->jobs);
    kube_informer_resync(watch->pods);
    kube_informer_resync(watch->services);
    if (watch->gang)
        gang_watch_resync(watch->gang);
}

bool job_watch_is_ready(const struct job_watch *watch)
{
    return kube_informer_synced(watch->jobs) && kube_informer_synced(watch->pods) &&
           kube_informer_synced(watch->services) &&
           (!watch->gang || gang_watch_is_ready(watch->gang));
}

struct training_controller_view job_watch_inspect(const struct job_watch *watch)
{
    const struct {
        const struct kube_informer *informer;
        const struct kube_resource *resource;
    } NEEDED[] = {{watch->jobs, watch->kind->resource},
                  {watch->pods, &KUBE_PODS},
                  {watch->services, &KUBE_SERVICES}};
    struct training_controller_view view = {
        .jobs = kube_informer_count(watch->jobs),
        .pods = kube_informer_count(watch->pods),
        .services = kube_informer_count(watch->services),
    };

    for (size_t i = 0; i < ARRAY_SIZE(NEEDED) && !view.waits_for; i++) {
        if (kube_informer_synced(NEEDED[i].informer))
            continue;
        view.waits_for = NEEDED[i].resource;
        view.failure = kube_informer_failure(NEEDED[i].informer);
    }
    if (!view.waits_for && watch->gang && !gang_watch_is_ready(watch->gang)) {
        view.waits_for = gang_watch_resource(watch->gang);
        view.failure = gang_watch_failure(watch->gang);
    }
    return view;
}
