/* Applies changes to a running pod; see pod/runner_internal.h. Sends the supervisor a changed
 * deadline, and updates volumes that show config maps, secrets or metadata of the pod. Environment
 * variables do not change, as in Kubernetes. */
#include "node/pod/runner_internal.h"

#include "node/node_size.h"
#include "node/pod/status.h"
#include "node/volume/files.h"

#include "base/moment.h"
#include "base/str.h"
#include "kube/object.h"

/* Which object has changed. */
struct pod_change {
    bool is_any; /* unknown objects: all volumes that show objects are updated */
    bool is_pod; /* the pod itself */
    /* If both flags are false: the config map or secret. */
    const struct kube_resource *resource;
    const char *name;
};

static bool refresh_is_shown(const struct json *volume, const struct pod_change *change)
{
    if (change->is_any)
        return volume_files_is(volume);
    return change->is_pod ? volume_files_show_pod(volume)
                          : volume_files_show(volume, change->resource, change->name);
}

static bool is_shown_by_pod(const struct json *pod, const struct pod_change *change)
{
    JSON_EACH (volume, json_at(pod, "spec", "volumes", NULL)) {
        if (refresh_is_shown(volume, change))
            return true;
    }
    return false;
}

/* Updates the volumes that contain data of the changed object. */
static void refresh_volume(struct pod_runner *runner, const struct pod_change *change)
{
    const struct json *pod = runner_pod(runner);
    /* While a pod is being planned, a thread of the pool may write its volumes. */
    bool is_planned = runner->has_spec || pod_runner_is_running(runner);
    if (runner->forgotten || pod_phase_is_final(pod) || !is_planned ||
        !is_shown_by_pod(pod, change))
        return;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct pod_facts facts = {.pod = pod,
                                    .hostname = plan_pod_hostname(arena, pod),
                                    .address = runner->address,
                                    .host_address = runner->node_address,
                                    .capacity = node_size_capacity(arena, &runner->host->size)};
    const struct volume_context context = {.state_dir = runner->host->state_dir,
                                           .pod_dir = runner->directory,
                                           .facts = &facts,
                                           .objects = &runner->host->objects,
                                           .tokens = &runner->tokens,
                                           .group = volume_group_of(pod, runner->host->nested)};
    JSON_EACH (volume, json_at(pod, "spec", "volumes", NULL)) {
        struct err err = ERR_INIT;
        if (refresh_is_shown(volume, change) && volume_refresh(arena, &context, volume, &err) < 0)
            kube_event(runner->host->client, pod, "kubelet", "Warning", "FailedMount", "%s",
                       err.message);
    }
}

void pod_runner_refresh(struct pod_runner *runner, const struct kube_resource *resource,
                        const struct kube_object *changed)
{
    const struct pod_change change = {.resource = resource, .name = changed->name};
    if (str_eq(runner->object->namespace_, changed->namespace_))
        refresh_volume(runner, &change);
}

void pod_runner_refresh_all(struct pod_runner *runner)
{
    refresh_volume(runner, &(struct pod_change){.is_any = true});
}

void pod_runner_tell_deadline(struct pod_runner *runner)
{
    int64_t seconds =
        json_get_int(json_get(runner_pod(runner), "spec"), "activeDeadlineSeconds", 0);
    if (seconds > 0 && supervisor_link_is_busy(runner->link))
        supervisor_link_set_deadline(runner->link, runner->deadline_ms,
                                     moment_after(runner->started_ms, seconds));
}

static const struct json *refresh_find_container(const struct json *pod, const char *name)
{
    JSON_EACH (container, json_at(pod, "spec", "containers", NULL)) {
        if (str_eq(json_get_string(container, "name", ""), name))
            return container;
    }
    return NULL;
}

/* Sends an event for each container whose image was changed: the change has no effect, because the
 * supervisor keeps the image of the spec. */
static void tell_changed_images(const struct pod_runner *runner, const struct json *before)
{
    const struct json *pod = runner_pod(runner);
    if (!runner->has_spec || pod_phase_is_final(pod) || kube_meta_is_deleting(pod))
        return;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    JSON_EACH (container, json_at(pod, "spec", "containers", NULL)) {
        const char *name = json_get_string(container, "name", "");
        const char *image = json_get_string(container, "image", "");
        if (!str_eq(json_get_string(refresh_find_container(before, name), "image", ""), image))
            kube_event_at(runner->host->client, pod, pod_container_path(arena, pod, name),
                          "kubelet", "Warning", "Unsupported",
                          "Container %s keeps its image: a started pod cannot change to image %s; "
                          "delete the pod and create it again",
                          name, image);
    }
}

void pod_runner_refresh_own(struct pod_runner *runner, const struct json *before)
{
    const struct json *now = runner_pod(runner);
    if (!json_equal(kube_meta_labels(before), kube_meta_labels(now)) ||
        !json_equal(json_at(before, "metadata", "annotations", NULL),
                    json_at(now, "metadata", "annotations", NULL)))
        refresh_volume(runner, &(struct pod_change){.is_pod = true});
    tell_changed_images(runner, before);
}
