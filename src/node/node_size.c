/* Computes the size of a node; see node_size.h. */
#include "node/node_size.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/scheduler/overcommit.h"
#include "kube/quantity.h"
#include "node/network/pod_network.h"

#include <sys/sysinfo.h>

/* The resources in struct node_size. */
static const struct sized_resource {
    const char *name, *annotation;
    size_t offset; /* in struct node_size */
} SIZED[] = {
    {"cpu", OVERCOMMIT_MACHINE_CPU, offsetof(struct node_size, cpu)},
    {"memory", OVERCOMMIT_MACHINE_MEMORY, offsetof(struct node_size, memory)},
};

/* Returns the amount in `size`, or NULL for the machine's own amount. */
static const char *node_size_offered(const struct node_size *size,
                                     const struct sized_resource *resource)
{
    return *(const char *const *)((const char *)size + resource->offset);
}

static struct json *machine_capacity(struct arena *arena)
{
    struct sysinfo machine;
    sysinfo(&machine);
    struct json *capacity = json_object(arena);
    json_set(arena, capacity, "cpu", json_stringf(arena, "%d", get_nprocs()));
    json_set(arena, capacity, "memory",
             json_stringf(arena, "%lluKi",
                          (unsigned long long)machine.totalram * machine.mem_unit / 1024));
    return capacity;
}

struct json *node_size_capacity(struct arena *arena, const struct node_size *size)
{
    struct json *capacity = machine_capacity(arena);
    for (size_t i = 0; i < ARRAY_SIZE(SIZED); i++)
        if (node_size_offered(size, &SIZED[i]))
            json_set_string(arena, capacity, SIZED[i].name, node_size_offered(size, &SIZED[i]));
    json_set(arena, capacity, "pods", json_stringf(arena, "%d", POD_NETWORK_PODS_MAX));
    return capacity;
}

struct json *node_size_annotations(struct arena *arena, const struct node_size *size)
{
    const struct json *machine = machine_capacity(arena);
    struct json *annotations = json_object(arena);
    for (size_t i = 0; i < ARRAY_SIZE(SIZED); i++)
        json_set(arena, annotations, SIZED[i].annotation,
                 node_size_offered(size, &SIZED[i])
                     ? json_clone(arena, json_get(machine, SIZED[i].name))
                     : json_null(arena));
    return annotations;
}

const char *node_size_note(struct arena *arena, const struct node_size *size)
{
    const struct json *machine = machine_capacity(arena);
    const char *offers = "", *has = "";
    for (size_t i = 0; i < ARRAY_SIZE(SIZED); i++) {
        const char *name = SIZED[i].name, *available = json_get_string(machine, name, "");
        struct kube_quantity wanted, limit;
        if (!node_size_offered(size, &SIZED[i]) ||
            kube_quantity_parse(node_size_offered(size, &SIZED[i]), &wanted, NULL) < 0 ||
            kube_quantity_parse(available, &limit, NULL) < 0 ||
            kube_quantity_compare(&wanted, &limit) <= 0)
            continue;
        const char *comma = offers[0] ? ", " : "";
        offers = arena_printf(arena, "%s%s%s %s", offers, comma, name,
                              node_size_offered(size, &SIZED[i]));
        has = arena_printf(arena, "%s%s%s %s", has, comma, name, available);
    }
    if (!offers[0])
        return NULL;
    return arena_printf(arena,
                        "each node offers more than this machine has (%s instead of %s): pods that "
                        "request it start anyway and share what the machine has",
                        offers, has);
}
