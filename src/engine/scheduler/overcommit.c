/* Compares the requests on a machine with its size; see overcommit.h. */
#include "engine/scheduler/overcommit.h"

#include "base/str.h"
#include "kube/object.h"
#include "kube/quantity.h"

static const char *machine_of(const struct json *node)
{
    return json_get_string(json_at(node, "status", "nodeInfo", NULL), "machineID", "");
}

bool overcommit_is_one_machine(const struct json *a, const struct json *b)
{
    return a == b || (machine_of(a)[0] && str_eq(machine_of(a), machine_of(b)));
}

static bool annotated_amount(const struct json *node, const char *annotation,
                             struct kube_quantity *ret)
{
    const char *text = kube_meta_annotation(node, annotation);
    return text && kube_quantity_parse(text, ret, NULL) == 0;
}

/* Returns the size of the node's machine: the amounts in its annotations, else the amounts that the
 * node offers. */
static void machine_size(const struct json *node, int64_t *ret_cpu_milli, int64_t *ret_memory_bytes)
{
    static const struct node_usage nothing = {0};
    struct kube_quantity quantity;
    node_usage_left(node, &nothing, ret_cpu_milli, ret_memory_bytes);
    if (annotated_amount(node, OVERCOMMIT_MACHINE_CPU, &quantity))
        *ret_cpu_milli = kube_quantity_milli(&quantity);
    if (annotated_amount(node, OVERCOMMIT_MACHINE_MEMORY, &quantity))
        *ret_memory_bytes = kube_quantity_value(&quantity);
}

const char *overcommit_message(struct arena *arena, const struct scheduler_view *view, size_t node,
                               const struct node_usage *more)
{
    const struct json *here = view->nodes[node].node;
    int64_t cpu = more->cpu_milli, memory = more->memory_bytes, cpu_has, memory_has;
    for (size_t i = 0; i < view->count; i++) {
        if (!overcommit_is_one_machine(here, view->nodes[i].node))
            continue;
        cpu += view->nodes[i].used->cpu_milli;
        memory += view->nodes[i].used->memory_bytes;
    }
    machine_size(here, &cpu_has, &memory_has);
    if (cpu <= cpu_has && memory <= memory_has)
        return NULL;
    bool of_cpu = cpu > cpu_has;
    return arena_printf(
        arena,
        "the nodes of this machine share its resources: their pods request %s %s, but it has only "
        "%s",
        of_cpu ? node_usage_cpu_text(arena, cpu) : node_usage_memory_text(arena, memory),
        of_cpu ? "cpu" : "memory",
        of_cpu ? node_usage_cpu_text(arena, cpu_has) : node_usage_memory_text(arena, memory_has));
}
