/* Assigns GPUs to containers; see devices.h. */
#include "kube/devices.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/quantity.h"

#include <string.h>

int64_t kube_devices_requested(const struct json *container)
{
    struct kube_quantity quantity;
    const struct json *value =
        json_at(container, "resources", "requests", KUBE_DEVICES_RESOURCE, NULL);
    if (!value || kube_quantity_from_json(value, &quantity, NULL) < 0)
        return 0;
    return kube_quantity_value(&quantity);
}

static const struct json *devices_parse(struct arena *arena, const char *annotation)
{
    struct json *map = NULL;
    if (!annotation || json_parse(arena, annotation, strlen(annotation), NULL, &map, NULL) < 0)
        return NULL;
    return map;
}

void kube_devices_take(struct kube_devices *devices, const char *annotation)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    JSON_EACH (container, devices_parse(arena, annotation)) {
        JSON_EACH (number, container) {
            if (number->type == JSON_INT && number->integer >= 0 &&
                number->integer < KUBE_DEVICES_MAX)
                devices->taken[number->integer] = true;
        }
    }
}

/* Returns the numbers of `count` free GPUs for a container. The search starts at *next. */
static struct json *devices_choose(struct arena *arena, const struct kube_devices *devices,
                                   int64_t count, size_t *next)
{
    struct json *numbers = json_array(arena);
    for (; count > 0 && *next < KUBE_DEVICES_MAX; ++*next) {
        if (devices->taken[*next])
            continue;
        json_append(numbers, json_int(arena, (int64_t)*next));
        count--;
    }
    return numbers;
}

/* Adds the GPUs of a container to the map, if it requests any. The search starts at *next. */
static void devices_add(struct arena *arena, struct json *map, const struct json *container,
                        const struct kube_devices *devices, size_t *next)
{
    int64_t count = kube_devices_requested(container);
    if (count > 0)
        json_set(arena, map, json_get_string(container, "name", ""),
                 devices_choose(arena, devices, count, next));
}

const char *kube_devices_assign(struct arena *arena, const struct json *pod,
                                const struct kube_devices *devices)
{
    const struct json *spec = json_get(pod, "spec");
    struct json *map = json_object(arena);
    size_t next = 0; /* behind the GPUs of the containers that keep running */
    JSON_EACH (container, json_get(spec, "initContainers")) {
        bool is_sidecar = str_eq(json_get_string(container, "restartPolicy", ""), "Always");
        size_t reused = next;
        devices_add(arena, map, container, devices, is_sidecar ? &next : &reused);
    }
    JSON_EACH (container, json_get(spec, "containers"))
        devices_add(arena, map, container, devices, &next);
    return json_count(map) > 0 ? json_to_string(arena, map) : NULL;
}

const char *kube_devices_of(struct arena *arena, const char *annotation, const char *container)
{
    const char *text = "";
    JSON_EACH (number, json_get(devices_parse(arena, annotation), container)) {
        if (number->type == JSON_INT)
            text = arena_printf(arena, "%s%s%d", text, text[0] ? "," : "", (int)number->integer);
    }
    return text;
}
