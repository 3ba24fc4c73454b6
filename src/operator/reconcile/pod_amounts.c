/* Adds up the requests of pods; see pod_amounts.h. Pure. */
#include "operator/reconcile/pod_amounts.h"

#include "base/str.h"

#include <string.h>

/* Returns the amount of this name, which is added as zero if it is missing. */
static struct kube_quantity *amount_of(struct arena *arena, struct training_amounts *amounts,
                                       const char *name)
{
    for (size_t i = 0; i < amounts->count; i++) {
        if (str_eq(amounts->items[i].name, name))
            return &amounts->items[i].quantity;
    }
    if (amounts->count == amounts->capacity) {
        size_t grown = amounts->capacity ? amounts->capacity * 2 : 4;
        struct training_amount *more = ARENA_ARRAY(arena, struct training_amount, grown);

        if (amounts->count > 0)
            memcpy(more, amounts->items, amounts->count * sizeof(*more));
        amounts->items = more;
        amounts->capacity = grown;
    }
    amounts->items[amounts->count] = (struct training_amount){.name = name};
    return &amounts->items[amounts->count++].quantity;
}

void training_amounts_add(struct arena *arena, struct training_amounts *sum,
                          const struct training_amounts *more)
{
    for (size_t i = 0; i < more->count; i++)
        kube_quantity_add(amount_of(arena, sum, more->items[i].name), &more->items[i].quantity);
}

/* Raises each amount of `most` to the amount of the same name in `other`, if that is larger. */
static void raise_to(struct arena *arena, struct training_amounts *most,
                     const struct training_amounts *other)
{
    for (size_t i = 0; i < other->count; i++) {
        struct kube_quantity *quantity = amount_of(arena, most, other->items[i].name);

        if (kube_quantity_compare(&other->items[i].quantity, quantity) > 0)
            *quantity = other->items[i].quantity;
    }
}

/* Adds the quantities of `map` to `ret`, except those that `unless` has too. */
static void read_amounts(struct arena *arena, const struct json *map, const struct json *unless,
                         struct training_amounts *ret)
{
    JSON_EACH (entry, map) {
        struct kube_quantity quantity;

        if (!json_get(unless, entry->name) && kube_quantity_from_json(entry, &quantity, NULL) == 0)
            *amount_of(arena, ret, entry->name) = quantity;
    }
}

static struct training_amounts container_amounts(struct arena *arena, const struct json *container)
{
    const struct json *resources = json_get(container, "resources");
    const struct json *requests = json_get(resources, "requests");
    struct training_amounts amounts = {0};

    read_amounts(arena, requests, NULL, &amounts);
    read_amounts(arena, json_get(resources, "limits"), requests, &amounts);
    return amounts;
}

struct training_amounts training_pod_amounts(struct arena *arena, const struct json *pod_spec)
{
    struct training_amounts running = {0}, sidecars = {0}, init_peak = {0};

    JSON_EACH (container, json_get(pod_spec, "containers")) {
        struct training_amounts each = container_amounts(arena, container);

        training_amounts_add(arena, &running, &each);
    }
    JSON_EACH (container, json_get(pod_spec, "initContainers")) {
        struct training_amounts each = container_amounts(arena, container);

        /* A sidecar (restartPolicy Always) runs together with all later containers. */
        if (str_eq(json_get_string(container, "restartPolicy", ""), "Always")) {
            training_amounts_add(arena, &sidecars, &each);
            training_amounts_add(arena, &running, &each);
            raise_to(arena, &init_peak, &sidecars);
        } else {
            training_amounts_add(arena, &each, &sidecars);
            raise_to(arena, &init_peak, &each);
        }
    }
    raise_to(arena, &running, &init_peak);
    return running;
}

struct json *training_amounts_to_json(struct arena *arena, const struct training_amounts *amounts)
{
    struct json *map = json_object(arena);

    for (size_t i = 0; i < amounts->count; i++) {
        char text[KUBE_QUANTITY_TEXT_MAX];

        kube_quantity_format(&amounts->items[i].quantity, text);
        json_set_string(arena, map, amounts->items[i].name, text);
    }
    return map;
}

bool training_amounts_equal(const struct json *a, const struct json *b)
{
    if (json_count(a) != json_count(b))
        return false;
    JSON_EACH (entry, a) {
        struct kube_quantity mine, theirs;
        const struct json *other = json_get(b, entry->name);

        if (!other || kube_quantity_from_json(entry, &mine, NULL) < 0 ||
            kube_quantity_from_json(other, &theirs, NULL) < 0 ||
            kube_quantity_compare(&mine, &theirs) != 0)
            return false;
    }
    return true;
}
