/* Config maps and secrets that change while a pod runs reach its volumes. Variables of its
 * environment stay what they were, as everywhere. */
#include "node/pod_runner_internal.h"

#include "node/pod_status.h"
#include "node/volumes.h"

#include "base/str.h"
#include "kube/object.h"

void pod_runner_refresh(struct pod_runner *runner, const struct kube_resource *resource,
                        const struct kube_object *changed)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json *pod = runner_pod(runner);
    if (runner->forgotten || pod_phase_is_final(pod) ||
        !str_eq(runner->object->namespace_, changed->namespace_))
        return;
    const struct pod_facts facts = {
        .pod = pod, .address = runner->address, .host_address = runner->node_address};
    const struct volume_context context = {.state_dir = runner->host->state_dir,
                                           .pod_dir = runner->directory,
                                           .facts = &facts,
                                           .objects = &runner->host->objects,
                                           .tokens = &runner->tokens};
    JSON_EACH (volume, json_at(pod, "spec", "volumes", NULL)) {
        struct err err = ERR_INIT;
        if (volume_refresh(arena, &context, volume, resource, changed->name, &err) < 0)
            kube_event(runner->host->client, pod, "kubelet", "Warning", "FailedMount",
                       "MountVolume.SetUp failed: %s", err.message);
    }
}
