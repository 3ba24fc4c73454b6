/* The cells of Deployments and ReplicaSets; see cells.h. Jobs use some of these cells, too. */
#include "kube/selector.h"
#include "kube/table/cells.h"

#include <inttypes.h>

/* Returns the values of member `name` of all containers of the pod template, joined by commas. */
static struct json *container_texts(struct arena *arena, const struct json *workload,
                                    const char *name)
{
    const char *text = "";
    JSON_EACH (container, json_at(workload, "spec", "template", "spec", "containers", NULL))
        text = arena_printf(arena, "%s%s%s", text, text[0] ? "," : "",
                            json_get_string(container, name, ""));
    return json_string(arena, text);
}

struct json *table_template_containers(struct arena *arena, const struct json *workload,
                                       int64_t now_ms)
{
    return container_texts(arena, workload, "name");
}

struct json *table_template_images(struct arena *arena, const struct json *workload, int64_t now_ms)
{
    return container_texts(arena, workload, "image");
}

struct json *table_pod_selector(struct arena *arena, const struct json *workload, int64_t now_ms)
{
    struct kube_selector selector;
    if (kube_selector_from_json(arena, json_at(workload, "spec", "selector", NULL), &selector,
                                NULL) < 0)
        return table_text_or_none(arena, NULL);
    return table_text_or_none(arena, kube_selector_text(arena, &selector));
}

/* Returns spec.replicas, whose default is 1. */
static int64_t desired_replicas(const struct json *workload)
{
    return json_get_int(json_get(workload, "spec"), "replicas", 1);
}

static struct json *status_number(struct arena *arena, const struct json *workload,
                                  const char *name)
{
    return json_int(arena, json_get_int(json_get(workload, "status"), name, 0));
}

struct json *table_replicas_desired(struct arena *arena, const struct json *workload,
                                    int64_t now_ms)
{
    return json_int(arena, desired_replicas(workload));
}

struct json *table_replicas_current(struct arena *arena, const struct json *workload,
                                    int64_t now_ms)
{
    return status_number(arena, workload, "replicas");
}

struct json *table_replicas_ready(struct arena *arena, const struct json *workload, int64_t now_ms)
{
    return status_number(arena, workload, "readyReplicas");
}

struct json *table_replicas_updated(struct arena *arena, const struct json *workload,
                                    int64_t now_ms)
{
    return status_number(arena, workload, "updatedReplicas");
}

struct json *table_replicas_available(struct arena *arena, const struct json *workload,
                                      int64_t now_ms)
{
    return status_number(arena, workload, "availableReplicas");
}

struct json *table_deployment_ready(struct arena *arena, const struct json *deployment,
                                    int64_t now_ms)
{
    return json_stringf(arena, "%" PRId64 "/%" PRId64,
                        json_get_int(json_get(deployment, "status"), "readyReplicas", 0),
                        desired_replicas(deployment));
}
