/* Assigns host ports to replicas with hostNetwork; see host_network.h. A job gets all the ports
 * that it needs, or it waits, because each replica needs the ports of all its peers. The plan
 * stores the ports in an annotation, which the controller writes before it creates a pod. A job
 * that has not ended keeps its ports. A finished or suspended job keeps only ports on which its
 * pods may still listen. */
#include "operator/reconcile/host_network.h"

#include "operator/reconcile/host_ports.h"
#include "operator/reconcile/reconcile_internal.h"

#include "base/hash.h"
#include "base/str.h"
#include "kube/object.h"

#include <string.h>

enum {
    ANNOTATION_MAX = 256 * 1024, /* the API's limit for all annotations of an object */
    PORT_COUNT = 65536,
    PORTS_RETRY_MS = 10 * 1000, /* delay until the next pass if too few ports are free */
    TABLE_RETRY_MS = 100, /* delay until the next pass if the port table is not complete yet */
};

/* A set of ports. */
struct port_set {
    unsigned char bits[PORT_COUNT / 8];
};

static bool port_set_has(const struct port_set *set, int port)
{
    return set->bits[port / 8] & 1U << (port % 8);
}

/* Returns whether the port was in the set before. */
static bool port_set_add(struct port_set *set, int port)
{
    bool before = port_set_has(set, port);

    set->bits[port / 8] |= (unsigned char)(1U << (port % 8));
    return before;
}

static const struct json *read_annotation(struct arena *arena, const struct json *job)
{
    static const struct json_limits limits = {.depth = 3};
    const char *text = kube_meta_annotation(job, TRAINING_HOST_PORTS_ANNOTATION);
    struct json *json;

    if (!text || strlen(text) > ANNOTATION_MAX ||
        json_parse(arena, text, strlen(text), &limits, &json, NULL) < 0)
        return NULL;
    return json->type == JSON_OBJECT ? json : NULL;
}

static int read_port(const struct json *value)
{
    return value->type == JSON_INT && value->integer > 0 && value->integer < PORT_COUNT
               ? (int)value->integer
               : 0;
}

void training_host_ports_read(struct arena *arena, struct training_job *job)
{
    const struct json *by_type = read_annotation(arena, job->json);
    struct port_set *seen = NULL;

    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        struct training_replica_spec *spec = &job->replicas[type];
        int index = 0;

        if (!spec->host_network)
            continue;
        if (!seen)
            seen = ARENA_NEW(arena, struct port_set);
        spec->ports = ARENA_ARRAY(arena, int, (size_t)spec->replicas + 1);
        JSON_EACH (value, json_get(by_type,
                                   training_replica_type_lower((enum training_replica_type)type))) {
            int port = read_port(value);

            if (index == spec->replicas)
                break;
            spec->ports[index++] = port && !port_set_add(seen, port) ? port : 0;
        }
    }
}

const int *training_host_ports_held(struct arena *arena, const struct json *job, size_t *ret_count)
{
    const struct json *by_type = read_annotation(arena, job);
    size_t capacity = 0;

    JSON_EACH (list, by_type)
        capacity += json_count(list);
    int *held = ARENA_ARRAY(arena, int, capacity + 1);
    *ret_count = 0;
    JSON_EACH (list, by_type) {
        JSON_EACH (value, list) {
            if (read_port(value))
                held[(*ret_count)++] = read_port(value);
        }
    }
    return held;
}

bool training_job_uses_host_network(const struct training_job *job)
{
    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        if (job->replicas[type].host_network && job->replicas[type].replicas > 0)
            return true;
    }
    return false;
}

char *training_host_ports_owner(struct arena *arena, const struct training_kind *kind,
                                const char *namespace_, const char *name)
{
    return arena_printf(arena, "%s/%s/%s", kind->row->singular, namespace_, name);
}

static const char *owner_name(const struct training_pass *pass)
{
    return training_host_ports_owner(pass->arena, pass->job.kind, pass->job.namespace_,
                                     pass->job.name);
}

static bool has_pods(const struct training_pass *pass)
{
    for (size_t i = 0; i < pass->observed->pod_count; i++) {
        if (kube_meta_is_controlled_by(pass->observed->pods[i], pass->job.uid))
            return true;
    }
    return false;
}

/* Returns the port that a pod was created with, or 0. */
static int port_of_pod(const struct training_kind *kind, const struct json *pod)
{
    JSON_EACH (container, json_at(pod, "spec", "containers", NULL)) {
        JSON_EACH (port, json_get(container, "ports")) {
            const struct json *number = json_get(port, "hostPort");

            if (number && str_eq(json_get_string(port, "name", ""), kind->port_name))
                return read_port(number);
        }
    }
    return 0;
}

/* Assigns a port to a replica, and takes the port away from any other replica of the job. */
static void set_replica_port(struct training_pass *pass, const struct training_replica *replica,
                             int port)
{
    if (pass->job.replicas[replica->type].ports[replica->index] == port)
        return;
    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        const struct training_replica_spec *spec = &pass->job.replicas[type];

        for (int i = 0; spec->host_network && i < spec->replicas; i++) {
            if (spec->ports[i] == port)
                spec->ports[i] = 0;
        }
    }
    pass->job.replicas[replica->type].ports[replica->index] = port;
}

/* Assigns to replicas the ports of their live pods. A pod listens on the port with which it was
 * created, even if the annotation was edited since. Its peers need that port, and no other replica
 * may get it. */
static void use_pod_ports(struct training_pass *pass)
{
    for (size_t i = 0; i < pass->replicas.count; i++) {
        const struct training_replica *replica = &pass->replicas.items[i];

        if (!pass->job.replicas[replica->type].host_network ||
            (replica->state != TRAINING_REPLICA_ACTIVE &&
             replica->state != TRAINING_REPLICA_PENDING))
            continue;
        int port = port_of_pod(pass->job.kind, replica->pod.json);
        if (port)
            set_replica_port(pass, replica, port);
    }
}

/* Gives up ports that another job also holds, for example because the annotation was copied. Does
 * nothing if the job has pods, because they use their ports. */
static void drop_shared_ports(struct training_pass *pass)
{
    const struct host_ports *table = pass->observed->host_ports;
    const char *owner = owner_name(pass);

    if (has_pods(pass))
        return;
    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        const struct training_replica_spec *spec = &pass->job.replicas[type];

        for (int i = 0; spec->host_network && i < spec->replicas; i++) {
            if (host_ports_held_by_others(table, owner, spec->ports[i]))
                spec->ports[i] = 0;
        }
    }
}

/* Adds the job's own ports to a set. Returns how many replicas have no port. */
static int count_missing(const struct training_pass *pass, struct port_set *own)
{
    int missing = 0;

    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        const struct training_replica_spec *spec = &pass->job.replicas[type];

        for (int i = 0; spec->host_network && i < spec->replicas; i++) {
            if (spec->ports[i])
                port_set_add(own, spec->ports[i]);
            else
                missing++;
        }
    }
    return missing;
}

/* Finds free ports of the range, at most `wanted`, and returns their number. Each job starts at a
 * position from the hash of its uid, so that independent operators seldom choose the same port, and
 * a released port is not reused at once. */
static int find_free(const struct training_pass *pass, const struct port_set *own, int *ret,
                     int wanted)
{
    const struct host_ports *table = pass->observed->host_ports;
    const char *owner = owner_name(pass);
    int first = host_ports_first(table), size = host_ports_last(table) - first + 1, found = 0;
    uint64_t hash = hash_fnv1a(HASH_FNV_START, pass->job.uid, strlen(pass->job.uid));
    int start = (int)(hash_mix(hash) % (uint64_t)size);

    for (int i = 0; i < size && found < wanted; i++) {
        int port = first + (start + i) % size;

        if (port_set_has(own, port) || host_ports_held_by_others(table, owner, port))
            continue;
        ret[found++] = port;
    }
    return found;
}

/* Assigns the ports to the replicas that have none. */
static void assign_found_ports(struct training_pass *pass, const int *ports)
{
    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        const struct training_replica_spec *spec = &pass->job.replicas[type];

        for (int i = 0; spec->host_network && i < spec->replicas; i++) {
            if (!spec->ports[i])
                spec->ports[i] = *ports++;
        }
    }
}

/* Adds to the plan the ports that the job holds from now on. `text` is the annotation with them, or
 * NULL to remove it. */
static void plan_ports(struct training_pass *pass, const int *held, size_t count, const char *text)
{
    training_plan_annotate(pass->plan, pass->job.json, TRAINING_HOST_PORTS_ANNOTATION, text);
    pass->plan->host_ports = held;
    pass->plan->host_port_count = count;
}

static void plan_no_ports(struct training_pass *pass)
{
    plan_ports(pass, ARENA_NEW(pass->arena, int), 0, NULL);
}

/* Adds to the plan all ports of the job's replicas. */
static void plan_job_ports(struct training_pass *pass)
{
    struct json *by_type = json_object(pass->arena);
    size_t count = 0;
    int *held = ARENA_ARRAY(pass->arena, int, (size_t)training_job_total_replicas(&pass->job) + 1);

    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        const struct training_replica_spec *spec = &pass->job.replicas[type];

        if (!spec->host_network || spec->replicas == 0)
            continue;
        struct json *list = json_set(pass->arena, by_type,
                                     training_replica_type_lower((enum training_replica_type)type),
                                     json_array(pass->arena));
        for (int i = 0; i < spec->replicas; i++) {
            json_append(list, json_int(pass->arena, spec->ports[i]));
            if (spec->ports[i])
                held[count++] = spec->ports[i];
        }
    }
    plan_ports(pass, held, count, count ? json_to_string(pass->arena, by_type) : NULL);
}

bool training_pass_assign_ports(struct training_pass *pass)
{
    const struct host_ports *table = pass->observed->host_ports;

    if (!training_job_uses_host_network(&pass->job)) {
        plan_no_ports(pass);
        return true;
    }
    if (!table) {
        training_plan_requeue(pass->plan, TABLE_RETRY_MS);
        return false;
    }
    use_pod_ports(pass);
    drop_shared_ports(pass);
    struct port_set *own = ARENA_NEW(pass->arena, struct port_set);
    int missing = count_missing(pass, own);
    int *ports = ARENA_ARRAY(pass->arena, int, (size_t)missing + 1);
    int found = find_free(pass, own, ports, missing);
    if (found == missing)
        assign_found_ports(pass, ports);
    plan_job_ports(pass);
    if (found == missing)
        return true;
    training_plan_event(pass->plan, true, "HostPortsExhausted",
                        "%d replicas with hostNetwork wait for free ports: too few of the ports "
                        "%d-%d are free; the replicas start when other jobs end, or when the "
                        "operator is started with a larger --host-port-range",
                        missing, host_ports_first(table), host_ports_last(table))
        ->once = true;
    training_plan_requeue(pass->plan, PORTS_RETRY_MS);
    return false;
}

/* Adds to a set the ports on which pods of the job may still listen. */
static void mark_live_ports(const struct training_pass *pass, struct port_set *live)
{
    for (size_t i = 0; i < pass->observed->pod_count; i++) {
        struct training_pod pod;

        if (!kube_meta_is_controlled_by(pass->observed->pods[i], pass->job.uid))
            continue;
        training_pod_read(pass->job.kind, pass->observed->pods[i], &pod);
        if (pod.phase == TRAINING_POD_PENDING || pod.phase == TRAINING_POD_RUNNING)
            port_set_add(live, port_of_pod(pass->job.kind, pod.json));
    }
}

void training_pass_release_ports(struct training_pass *pass)
{
    const struct json *by_type = read_annotation(pass->arena, pass->job.json);
    struct port_set *live = ARENA_NEW(pass->arena, struct port_set);
    struct json *kept = json_object(pass->arena);
    size_t capacity, count = 0;

    training_host_ports_held(pass->arena, pass->job.json, &capacity);
    int *held = ARENA_ARRAY(pass->arena, int, capacity + 1);
    mark_live_ports(pass, live);
    JSON_EACH (list, by_type) {
        struct json *ports = json_set(pass->arena, kept, list->name, json_array(pass->arena));

        JSON_EACH (value, list) {
            int port = read_port(value);

            if (!port_set_has(live, port))
                port = 0;
            json_append(ports, json_int(pass->arena, port));
            if (port)
                held[count++] = port;
        }
    }
    plan_ports(pass, held, count, count ? json_to_string(pass->arena, kept) : NULL);
}
