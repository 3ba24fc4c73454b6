/* Assigns node ports to replicas with hostNetwork; see host_network.h. Pure; part of the reconcile.
 * A job gets all the ports that it needs, or it waits, because each replica needs the ports of all
 * its peers. The plan stores the ports in an annotation, which the controller writes before it
 * creates a pod. A job keeps its ports while it creates pods. After that it keeps the ports on
 * which pods still listen. */
#include "operator/reconcile/host_network.h"

#include "operator/reconcile/host_ports.h"
#include "operator/reconcile/reconcile_internal.h"

#include "base/hash.h"
#include "base/str.h"
#include "kube/object.h"

#include <string.h>

enum {
    MEMORY_MAX = 256 * 1024, /* the API's limit for all annotations of an object */
    PORTS = 65536,
    ASK_AGAIN_MS = 10 * 1000, /* interval to check whether other jobs have released ports */
    NOT_KNOWN_YET_MS = 100,
};

/* The ports of this job, so that no port is assigned twice. */
struct ports_seen {
    unsigned char bits[PORTS / 8];
};

static bool is_seen(const struct ports_seen *seen, int port)
{
    return seen->bits[port / 8] & 1U << (port % 8);
}

static bool ports_seen_add(struct ports_seen *seen, int port)
{
    bool before = is_seen(seen, port);

    seen->bits[port / 8] |= (unsigned char)(1U << (port % 8));
    return before;
}

static const struct json *read_annotation(struct arena *arena, const struct json *job)
{
    static const struct json_limits limits = {.depth = 3};
    const char *text = kube_meta_annotation(job, TRAINING_HOST_PORTS_ANNOTATION);
    struct json *json;

    if (!text || strlen(text) > MEMORY_MAX ||
        json_parse(arena, text, strlen(text), &limits, &json, NULL) < 0)
        return NULL;
    return json->type == JSON_OBJECT ? json : NULL;
}

static int read_port(const struct json *value)
{
    return value->type == JSON_INT && value->integer > 0 && value->integer < PORTS
               ? (int)value->integer
               : 0;
}

void training_host_ports_read(struct arena *arena, struct training_job *job)
{
    const struct json *memory = read_annotation(arena, job->json);
    struct ports_seen *seen = NULL;

    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        struct training_replica_spec *spec = &job->replicas[type];
        int index = 0;

        if (!spec->host_network)
            continue;
        if (!seen)
            seen = ARENA_NEW(arena, struct ports_seen);
        spec->ports = ARENA_ARRAY(arena, int, (size_t)spec->replicas + 1);
        JSON_EACH (value, json_get(memory,
                                   training_replica_type_lower((enum training_replica_type)type))) {
            int port = read_port(value);

            if (index == spec->replicas)
                break;
            spec->ports[index++] = port && !ports_seen_add(seen, port) ? port : 0;
        }
    }
}

const int *training_host_ports_held(struct arena *arena, const struct json *job, size_t *ret_count)
{
    const struct json *memory = read_annotation(arena, job);
    size_t room = 0;

    JSON_EACH (list, memory)
        room += json_count(list);
    int *held = ARENA_ARRAY(arena, int, room + 1);
    *ret_count = 0;
    JSON_EACH (list, memory) {
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

static void take_port(struct training_pass *pass, const struct training_replica *replica, int port)
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

/* Uses the ports of live pods. They listen on the ports with which they were created, even if the
 * annotation was edited since. Their peers need that port, and no other replica may get it. */
static void believe_pods(struct training_pass *pass)
{
    for (size_t i = 0; i < pass->replicas.count; i++) {
        const struct training_replica *replica = &pass->replicas.items[i];

        if (!pass->job.replicas[replica->type].host_network ||
            (replica->state != TRAINING_REPLICA_ACTIVE &&
             replica->state != TRAINING_REPLICA_PENDING))
            continue;
        int port = port_of_pod(pass->job.kind, replica->pod.json);
        if (port)
            take_port(pass, replica, port);
    }
}

/* Releases ports that another job also holds, for example because the annotation was copied. This
 * is done only while the job has no pods, because pods use their ports. */
static void give_up_clashes(struct training_pass *pass)
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

/* Marks the job's own ports. Returns how many replicas have no port. */
static int count_missing(const struct training_pass *pass, struct ports_seen *own)
{
    int missing = 0;

    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        const struct training_replica_spec *spec = &pass->job.replicas[type];

        for (int i = 0; spec->host_network && i < spec->replicas; i++) {
            if (spec->ports[i])
                ports_seen_add(own, spec->ports[i]);
            else
                missing++;
        }
    }
    return missing;
}

/* Finds free ports of the range, at most `wanted`. Each job starts at a position from the hash of
 * its uid, so that independent operators seldom choose the same port, and a released port is not
 * reused at once. */
static int find_free(const struct training_pass *pass, const struct ports_seen *own, int *ret,
                     int wanted)
{
    const struct host_ports *table = pass->observed->host_ports;
    const char *owner = owner_name(pass);
    int first = host_ports_first(table), size = host_ports_last(table) - first + 1, found = 0;
    uint64_t hash = hash_fnv1a(HASH_FNV_START, pass->job.uid, strlen(pass->job.uid));
    int start = (int)(hash_mix(hash) % (uint64_t)size);

    for (int i = 0; i < size && found < wanted; i++) {
        int port = first + (start + i) % size;

        if (is_seen(own, port) || host_ports_held_by_others(table, owner, port))
            continue;
        ret[found++] = port;
    }
    return found;
}

static void hand_out(struct training_pass *pass, const int *ports)
{
    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        const struct training_replica_spec *spec = &pass->job.replicas[type];

        for (int i = 0; spec->host_network && i < spec->replicas; i++) {
            if (!spec->ports[i])
                spec->ports[i] = *ports++;
        }
    }
}

static void host_network_hold(struct training_pass *pass, const int *held, size_t count,
                              const char *text)
{
    training_plan_annotate(pass->plan, pass->job.json, TRAINING_HOST_PORTS_ANNOTATION, text);
    pass->plan->host_ports = held;
    pass->plan->host_port_count = count;
}

static void hold_nothing(struct training_pass *pass)
{
    host_network_hold(pass, ARENA_NEW(pass->arena, int), 0, NULL);
}

/* Adds to the plan the ports that the job holds from now on. */
static void write_down(struct training_pass *pass)
{
    struct json *memory = json_object(pass->arena);
    size_t count = 0;
    int *held = ARENA_ARRAY(pass->arena, int, (size_t)training_job_total_replicas(&pass->job) + 1);

    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        const struct training_replica_spec *spec = &pass->job.replicas[type];

        if (!spec->host_network || spec->replicas == 0)
            continue;
        struct json *list = json_set(pass->arena, memory,
                                     training_replica_type_lower((enum training_replica_type)type),
                                     json_array(pass->arena));
        for (int i = 0; i < spec->replicas; i++) {
            json_append(list, json_int(pass->arena, spec->ports[i]));
            if (spec->ports[i])
                held[count++] = spec->ports[i];
        }
    }
    host_network_hold(pass, held, count, count ? json_to_string(pass->arena, memory) : NULL);
}

bool training_pass_assign_ports(struct training_pass *pass)
{
    const struct host_ports *table = pass->observed->host_ports;

    if (!training_job_uses_host_network(&pass->job)) {
        hold_nothing(pass);
        return true;
    }
    if (!table) {
        training_plan_requeue(pass->plan, NOT_KNOWN_YET_MS);
        return false;
    }
    believe_pods(pass);
    give_up_clashes(pass);
    struct ports_seen *own = ARENA_NEW(pass->arena, struct ports_seen);
    int missing = count_missing(pass, own);
    int *ports = ARENA_ARRAY(pass->arena, int, (size_t)missing + 1);
    int found = find_free(pass, own, ports, missing);
    if (found == missing)
        hand_out(pass, ports);
    write_down(pass);
    if (found == missing)
        return true;
    training_plan_event(pass->plan, true, "HostPortsExhausted",
                        "%d replicas with hostNetwork wait for ports of their own: too few of "
                        "%d-%d are free; they start when other jobs have ended, or with a larger "
                        "--host-port-range of the operator",
                        missing, host_ports_first(table), host_ports_last(table))
        ->once = true;
    training_plan_requeue(pass->plan, ASK_AGAIN_MS);
    return false;
}

/* Marks the ports on which pods of the job may still listen. */
static void see_live_pods(const struct training_pass *pass, struct ports_seen *live)
{
    for (size_t i = 0; i < pass->observed->pod_count; i++) {
        struct training_pod pod;

        if (!kube_meta_is_controlled_by(pass->observed->pods[i], pass->job.uid))
            continue;
        training_pod_read(pass->job.kind, pass->observed->pods[i], &pod);
        if (pod.phase == TRAINING_POD_PENDING || pod.phase == TRAINING_POD_RUNNING)
            ports_seen_add(live, port_of_pod(pass->job.kind, pod.json));
    }
}

void training_pass_release_ports(struct training_pass *pass)
{
    const struct json *memory = read_annotation(pass->arena, pass->job.json);
    struct ports_seen *live = ARENA_NEW(pass->arena, struct ports_seen);
    struct json *kept = json_object(pass->arena);
    size_t room, count = 0;

    training_host_ports_held(pass->arena, pass->job.json, &room);
    int *held = ARENA_ARRAY(pass->arena, int, room + 1);
    see_live_pods(pass, live);
    JSON_EACH (list, memory) {
        struct json *ports = json_set(pass->arena, kept, list->name, json_array(pass->arena));

        JSON_EACH (value, list) {
            int port = read_port(value);

            if (!is_seen(live, port))
                port = 0;
            json_append(ports, json_int(pass->arena, port));
            if (port)
                held[count++] = port;
        }
    }
    host_network_hold(pass, held, count, count ? json_to_string(pass->arena, kept) : NULL);
}
