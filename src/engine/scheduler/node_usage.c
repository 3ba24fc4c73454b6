/* Adds up requests and compares them with the resources of a node; see node_usage.h. */
#include "engine/scheduler/node_usage.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/quantity.h"

/* The most container ports per pod that are kept. Each port is compared with the ports of all pods
 * of the machine, and a manifest may have 100000 ports. Further ports are ignored. */
enum { INNER_PORTS_MAX = 1000 };

enum { SCANNED_EXTRAS_MAX = 16 }; /* a usage with more extended resources finds them with a map */

static int64_t read_amount(const struct json *value, bool milli)
{
    struct kube_quantity quantity;
    if (!value || kube_quantity_from_json(value, &quantity, NULL) < 0)
        return 0;
    return milli ? kube_quantity_milli(&quantity) : kube_quantity_value(&quantity);
}

static int64_t node_usage_amount(const struct json *amounts, const char *name, bool milli)
{
    return read_amount(json_get(amounts, name), milli);
}

/* Reads a request. An amount larger than any machine has is limited, so that the sum of 65536
 * amounts does not overflow. */
static int64_t read_request(const struct json *value, bool milli)
{
    static const int64_t most = INT64_MAX >> 16;
    int64_t request = read_amount(value, milli);
    return request < most ? request : most;
}

static int64_t node_usage_request(const struct json *container, const char *name, bool milli)
{
    return read_request(json_at(container, "resources", "requests", name, NULL), milli);
}

static uint32_t port_of(const struct json *port, const char *field)
{
    const char *protocol = json_get_string(port, "protocol", "TCP");
    uint32_t kind = str_eq(protocol, "UDP") ? 1 : str_eq(protocol, "SCTP") ? 2 : 0;
    return kind << 16 | (uint32_t)json_get_int(port, field, 0);
}

static int64_t node_usage_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- Other resources ------------------------------------------------------------------------- */

/* Extended resources have a domain in their name; cpu, memory and storage have none. */
static bool is_extra(const char *name)
{
    return strchr(name, '/') != NULL;
}

static struct node_extra *find_extra(const struct node_usage *usage, const char *name)
{
    if (usage->extras.count > SCANNED_EXTRAS_MAX)
        return map_get(&usage->extras_by_name, name);
    for (size_t i = 0; i < usage->extras.count; i++)
        if (str_eq(usage->extras.items[i]->name, name))
            return usage->extras.items[i];
    return NULL;
}

static struct node_extra *ensure_extra(struct node_usage *usage, const char *name)
{
    struct node_extra *found = find_extra(usage, name);
    if (found)
        return found;
    struct node_extra *extra = mem_zalloc(sizeof(*extra));
    extra->name = mem_strdup(name);
    vec_push(&usage->extras, extra);
    size_t count = usage->extras.count;
    for (size_t i = usage->extras_by_name.count; count > SCANNED_EXTRAS_MAX && i < count; i++)
        map_put(&usage->extras_by_name, usage->extras.items[i]->name, usage->extras.items[i]);
    return extra;
}

int64_t node_usage_extra(const struct node_usage *usage, const char *name)
{
    const struct node_extra *found = find_extra(usage, name);
    return found ? found->amount : 0;
}

bool node_usage_has_extra(const struct json *node, const struct node_usage *used, const char *name,
                          int64_t more)
{
    const struct json *has = json_at(node, "status", "allocatable", NULL);
    return node_usage_extra(used, name) + more <= node_usage_amount(has, name, false);
}

/* ---- Usage of a pod -------------------------------------------------------------------------- */

static void add_container(struct node_usage *usage, const struct json *container)
{
    usage->cpu_milli += node_usage_request(container, "cpu", true);
    usage->memory_bytes += node_usage_request(container, "memory", false);
    JSON_EACH (request, json_at(container, "resources", "requests", NULL)) {
        if (is_extra(request->name))
            ensure_extra(usage, request->name)->amount += read_request(request, false);
    }
    JSON_EACH (port, json_get(container, "ports")) {
        if (json_get_int(port, "hostPort", 0) > 0)
            vec_push(&usage->ports, port_of(port, "hostPort"));
        if (usage->inner_ports.count < INNER_PORTS_MAX)
            vec_push(&usage->inner_ports, port_of(port, "containerPort"));
    }
}

/* Raises each amount of `usage` to the amount of `other`, if that is larger. */
static void raise_amounts(struct node_usage *usage, const struct node_usage *other)
{
    usage->cpu_milli = node_usage_larger(usage->cpu_milli, other->cpu_milli);
    usage->memory_bytes = node_usage_larger(usage->memory_bytes, other->memory_bytes);
    for (size_t i = 0; i < other->extras.count; i++) {
        struct node_extra *extra = ensure_extra(usage, other->extras.items[i]->name);
        extra->amount = node_usage_larger(extra->amount, other->extras.items[i]->amount);
    }
}

/* Adds the init containers to `usage`, which has the other containers. A sidecar (restartPolicy
 * Always) runs together with all later containers. */
static void add_init_containers(struct node_usage *usage, const struct json *containers)
{
    struct node_usage sidecars = {0}, peak = {0};
    JSON_EACH (container, containers) {
        if (str_eq(json_get_string(container, "restartPolicy", ""), "Always")) {
            add_container(usage, container);
            add_container(&sidecars, container);
            continue;
        }
        struct node_usage step = {0};
        add_container(&step, container);
        node_usage_add(&step, &sidecars);
        raise_amounts(&peak, &step);
        node_usage_release(&step);
    }
    raise_amounts(usage, &peak);
    node_usage_release(&sidecars);
    node_usage_release(&peak);
}

void node_usage_of_pod(const struct json *pod, struct node_usage *ret)
{
    const struct json *spec = json_get(pod, "spec");
    *ret = (struct node_usage){.pods = 1};
    JSON_EACH (container, json_get(spec, "containers"))
        add_container(ret, container);
    add_init_containers(ret, json_get(spec, "initContainers"));
}

void node_usage_release(struct node_usage *usage)
{
    for (size_t i = 0; i < usage->extras.count; i++) {
        free(usage->extras.items[i]->name);
        free(usage->extras.items[i]);
    }
    vec_release(&usage->extras);
    map_release(&usage->extras_by_name);
    vec_release(&usage->ports);
    vec_release(&usage->inner_ports);
}

/* ---- Usage of a node ------------------------------------------------------------------------- */

void node_usage_add(struct node_usage *total, const struct node_usage *pod)
{
    total->pods += pod->pods;
    total->cpu_milli += pod->cpu_milli;
    total->memory_bytes += pod->memory_bytes;
    for (size_t i = 0; i < pod->ports.count; i++)
        vec_push(&total->ports, pod->ports.items[i]);
    for (size_t i = 0; i < pod->inner_ports.count; i++)
        vec_push(&total->inner_ports, pod->inner_ports.items[i]);
    for (size_t i = 0; i < pod->extras.count; i++)
        ensure_extra(total, pod->extras.items[i]->name)->amount += pod->extras.items[i]->amount;
}

/* A macro, because each list has its own type. */
#define SUBTRACT_PORT(list, port)                                                                  \
    do {                                                                                           \
        for (size_t at_ = 0; at_ < (list)->count; at_++) {                                         \
            if ((list)->items[at_] == (port)) {                                                    \
                vec_remove((list), at_);                                                           \
                break;                                                                             \
            }                                                                                      \
        }                                                                                          \
    } while (0)

void node_usage_subtract(struct node_usage *total, const struct node_usage *pod)
{
    total->pods -= pod->pods;
    total->cpu_milli -= pod->cpu_milli;
    total->memory_bytes -= pod->memory_bytes;
    for (size_t i = 0; i < pod->ports.count; i++)
        SUBTRACT_PORT(&total->ports, pod->ports.items[i]);
    for (size_t i = 0; i < pod->inner_ports.count; i++)
        SUBTRACT_PORT(&total->inner_ports, pod->inner_ports.items[i]);
    for (size_t i = 0; i < pod->extras.count; i++)
        ensure_extra(total, pod->extras.items[i]->name)->amount -= pod->extras.items[i]->amount;
}

static bool port_is_taken(const struct node_usage *used, uint32_t port)
{
    for (size_t i = 0; i < used->ports.count; i++)
        if (used->ports.items[i] == port)
            return true;
    return false;
}

bool node_usage_shares_ports(const struct json *node)
{
    JSON_EACH (condition, json_at(node, "status", "conditions", NULL)) {
        if (str_eq(json_get_string(condition, "type", ""), NODE_USAGE_NAMESPACES))
            return str_eq(json_get_string(condition, "status", ""), "False");
    }
    return false;
}

bool node_usage_ports_clash(const struct node_usage *used, const struct node_usage *pod)
{
    for (size_t i = 0; i < pod->inner_ports.count; i++)
        for (size_t k = 0; k < used->inner_ports.count; k++)
            if (used->inner_ports.items[k] == pod->inner_ports.items[i])
                return true;
    return false;
}

/* Adds a reason to the shortage. Ignores the reason if the shortage has four reasons already. */
static void node_usage_lack(struct node_shortage *shortage, const char *reason, bool permanent)
{
    shortage->permanent |= permanent;
    if (shortage->count < ARRAY_SIZE(shortage->reasons))
        shortage->reasons[shortage->count++] = reason;
}

bool node_usage_fits(struct arena *arena, const struct json *node, const struct node_usage *used,
                     const struct node_usage *pod, struct node_shortage *ret)
{
    const struct json *has = json_at(node, "status", "allocatable", NULL);
    *ret = (struct node_shortage){0};
    for (size_t i = 0; i < pod->ports.count; i++) {
        if (port_is_taken(used, pod->ports.items[i])) {
            node_usage_lack(ret, "node(s) didn't have free ports for the requested pod ports",
                            false);
            return false;
        }
    }
    if (json_get(has, "pods") &&
        (int64_t)(used->pods + pod->pods) > node_usage_amount(has, "pods", false))
        node_usage_lack(ret, "Too many pods", false);
    if (json_get(has, "cpu") && pod->cpu_milli > 0 &&
        used->cpu_milli + pod->cpu_milli > node_usage_amount(has, "cpu", true))
        node_usage_lack(ret, "Insufficient cpu",
                        pod->cpu_milli > node_usage_amount(has, "cpu", true));
    if (json_get(has, "memory") && pod->memory_bytes > 0 &&
        used->memory_bytes + pod->memory_bytes > node_usage_amount(has, "memory", false))
        node_usage_lack(ret, "Insufficient memory",
                        pod->memory_bytes > node_usage_amount(has, "memory", false));
    for (size_t i = 0; i < pod->extras.count; i++) {
        const struct node_extra *request = pod->extras.items[i];
        if (request->amount > 0 &&
            !node_usage_has_extra(node, used, request->name, request->amount))
            node_usage_lack(ret, arena_printf(arena, "Insufficient %s", request->name),
                            request->amount > node_usage_amount(has, request->name, false));
    }
    return ret->count == 0;
}

void node_usage_left(const struct json *node, const struct node_usage *used, int64_t *ret_cpu_milli,
                     int64_t *ret_memory_bytes)
{
    const struct json *has = json_at(node, "status", "allocatable", NULL);
    *ret_cpu_milli =
        json_get(has, "cpu") ? node_usage_amount(has, "cpu", true) - used->cpu_milli : INT64_MAX;
    *ret_memory_bytes = json_get(has, "memory")
                            ? node_usage_amount(has, "memory", false) - used->memory_bytes
                            : INT64_MAX;
}

static const char *amount_text(struct arena *arena, struct kube_quantity quantity)
{
    char text[KUBE_QUANTITY_TEXT_MAX];
    kube_quantity_format(&quantity, text);
    return arena_strdup(arena, text);
}

const char *node_usage_cpu_text(struct arena *arena, int64_t cpu_milli)
{
    struct kube_quantity quantity = {.nano = cpu_milli, .form = KUBE_QUANTITY_DECIMAL};
    quantity.nano *= 1000 * 1000;
    return amount_text(arena, quantity);
}

const char *node_usage_memory_text(struct arena *arena, int64_t memory_bytes)
{
    struct kube_quantity quantity = {.nano = memory_bytes, .form = KUBE_QUANTITY_BINARY};
    quantity.nano *= 1000 * 1000 * 1000;
    return amount_text(arena, quantity);
}

static int node_usage_percent(int64_t left, int64_t whole)
{
    __extension__ typedef __int128 wide;
    return whole <= 0 || left <= 0 ? 0 : (int)((wide)left * 100 / whole);
}

int node_usage_percent_left(const struct json *node, const struct node_usage *used,
                            const struct node_usage *pod)
{
    const struct json *has = json_at(node, "status", "allocatable", NULL);
    int64_t cpu = node_usage_amount(has, "cpu", true),
            memory = node_usage_amount(has, "memory", false);
    return (node_usage_percent(cpu - used->cpu_milli - pod->cpu_milli, cpu) +
            node_usage_percent(memory - used->memory_bytes - pod->memory_bytes, memory)) /
           2;
}
