/* The cells of the resource usage of pods and nodes; see cells.h. */
#include "kube/quantity.h"
#include "kube/table/cells.h"

/* Returns the usage of a node, or the sum of the usage of all containers of a pod. */
static struct json *usage_cell(struct arena *arena, const struct json *object, const char *resource)
{
    struct kube_quantity sum = {0}, one;
    const struct json *containers = json_get(object, "containers");
    (void)kube_quantity_from_json(json_at(object, "usage", resource, NULL), &sum, NULL);
    JSON_EACH (container, containers) {
        if (kube_quantity_from_json(json_at(container, "usage", resource, NULL), &one, NULL) < 0)
            continue;
        sum.form = one.form;
        kube_quantity_add(&sum, &one);
    }
    char text[KUBE_QUANTITY_TEXT_MAX];
    kube_quantity_format(&sum, text);
    return json_string(arena, text);
}

struct json *table_usage_cpu(struct arena *arena, const struct json *object, int64_t now_ms)
{
    return usage_cell(arena, object, "cpu");
}

struct json *table_usage_memory(struct arena *arena, const struct json *object, int64_t now_ms)
{
    return usage_cell(arena, object, "memory");
}

struct json *table_usage_window(struct arena *arena, const struct json *object, int64_t now_ms)
{
    return json_string(arena, json_get_string(object, "window", ""));
}
