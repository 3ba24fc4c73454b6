/* Creates Node objects and reports their status; see node_object.h. */
#include "node/node_object.h"

#include "node/node_retired.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "base/system/boot.h"
#include "base/system/file.h"
#include "engine/scheduler/node_usage.h"
#include "kube/condition.h"
#include "kube/devices.h"
#include "kube/object.h"
#include "node/image/report.h"
#include "node/image/table.h"
#include "node/node_size.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

enum { HEARTBEAT_MS = 30 * 1000, RETRY_MS = 1000 };

const char *node_object_address(struct arena *arena, int node)
{
    return arena_printf(arena, "127.0.0.%d", node + 1);
}

static const char *node_object_architecture(const char *machine)
{
    static const char *const NAMES[][2] = {{"x86_64", "amd64"},
                                           {"aarch64", "arm64"},
                                           {"ppc64le", "ppc64le"},
                                           {"riscv64", "riscv64"},
                                           {"s390x", "s390x"}};
    for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++)
        if (str_eq(machine, NAMES[i][0]))
            return NAMES[i][1];
    return machine;
}

struct json *node_object_make(struct arena *arena, const char *name, int node,
                              const struct node_size *size)
{
    struct utsname system;
    uname(&system);
    struct json *object = kube_object_make(arena, &KUBE_NODES, NULL, name);
    kube_meta_set_label(arena, object, "kubernetes.io/hostname", name);
    kube_meta_set_label(arena, object, "kubernetes.io/os", "linux");
    kube_meta_set_label(arena, object, "kubernetes.io/arch",
                        arena_strdup(arena, node_object_architecture(system.machine)));
    JSON_EACH (annotation, node_size_annotations(arena, size)) {
        if (annotation->type != JSON_NULL)
            kube_meta_set_annotation(arena, object, annotation->name, json_text(annotation));
    }
    struct json *spec = json_ensure_object(arena, object, "spec");
    const char *range = arena_printf(arena, "10.244.%d.0/24", node + 1);
    json_set_string(arena, spec, "podCIDR", range);
    json_append(json_ensure_array(arena, spec, "podCIDRs"), json_string(arena, range));
    return object;
}

static void add_condition(struct arena *arena, struct json *conditions, const char *type,
                          const char *status, const char *reason, const char *message,
                          int64_t since_ms, const char *now)
{
    const struct kube_condition wanted = {
        .type = type, .status = status, .reason = reason, .message = message, .now_ms = since_ms};
    struct json *condition = kube_condition_set(arena, conditions, &wanted, 0);
    json_set_string(arena, condition, "lastHeartbeatTime", now);
}

/* Returns PRETTY_NAME of os-release, or "Linux". */
static const char *system_name(struct arena *arena)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, 16 * 1024);
    if (file_read("/etc/os-release", &text, NULL) < 0)
        return "Linux";
    const char *line = strstr(text.data, "PRETTY_NAME=\"");
    if (!line)
        return "Linux";
    line += strlen("PRETTY_NAME=\"");
    return arena_strndup(arena, line, strcspn(line, "\"\n"));
}

/* Returns the first line of a file, or "" if the file cannot be read. */
static const char *read_first_line(struct arena *arena, const char *path)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, 256);
    if (file_read(path, &text, NULL) < 0)
        return "";
    return arena_strndup(arena, text.data, strcspn(text.data, "\n"));
}

/* The nodes of one machine have the same machineID. The scheduler uses it to find nodes that share
 * resources. */
static void add_identity(struct arena *arena, struct json *info)
{
    char boot[BOOT_ID_MAX] = "";
    (void)boot_id(boot, NULL);
    const char *machine = read_first_line(arena, "/etc/machine-id");
    json_set_string(arena, info, "machineID", machine[0] ? machine : boot);
    json_set_string(arena, info, "systemUUID", machine[0] ? machine : boot);
    json_set_string(arena, info, "bootID", boot);
}

static void add_info(struct arena *arena, struct json *status)
{
    struct utsname system;
    uname(&system);
    struct json *info = json_ensure_object(arena, status, "nodeInfo");
    json_set_string(arena, info, "architecture", node_object_architecture(system.machine));
    json_set_string(arena, info, "operatingSystem", "linux");
    json_set_string(arena, info, "kernelVersion", system.release);
    json_set_string(arena, info, "osImage", system_name(arena));
    json_set_string(arena, info, "containerRuntimeVersion", "trainyard://" TRAINYARD_VERSION);
    json_set_string(arena, info, "kubeletVersion", "v" TRAINYARD_VERSION);
    json_set_string(arena, info, "kubeProxyVersion", "");
    add_identity(arena, info);
}

static void add_address(struct arena *arena, struct json *status, const char *type,
                        const char *address)
{
    struct json *entry = json_object(arena);
    json_set_string(arena, entry, "type", type);
    json_set_string(arena, entry, "address", address);
    json_append(json_ensure_array(arena, status, "addresses"), entry);
}

struct json *node_object_status(struct arena *arena, const char *name, int node,
                                const struct node_condition *condition, int64_t now_ms)
{
    const struct node_pressure *pressure = &condition->pressure;
    char now[MOMENT_TEXT_MAX];
    int64_t since_ms = condition->ready_change_ms;
    moment_format(now_ms, now);
    struct json *status = json_object(arena);
    struct json *capacity = node_size_capacity(arena, &condition->size);
    if (condition->gpus > 0)
        json_set(arena, capacity, KUBE_DEVICES_RESOURCE,
                 json_stringf(arena, "%d", condition->gpus));
    json_set(arena, status, "capacity", capacity);
    json_set(arena, status, "allocatable", json_clone(arena, capacity));
    struct json *conditions = json_ensure_array(arena, status, "conditions");
    for (int kind = 0; kind < PRESSURE_KINDS; kind++) {
        struct node_pressure_words words = node_pressure_words(pressure, kind);
        add_condition(arena, conditions, words.type, words.status, words.reason, words.message,
                      pressure->since_ms[kind], now);
    }
    if (condition->not_ready)
        add_condition(arena, conditions, "Ready", "False", "NetworkUnavailable",
                      condition->not_ready, since_ms, now);
    else
        add_condition(arena, conditions, "Ready", "True", "KubeletReady",
                      "trainyard runs pods on this machine", since_ms, now);
    if (condition->plain)
        add_condition(arena, conditions, NODE_USAGE_NAMESPACES, "False", "Plain", condition->plain,
                      since_ms, now);
    add_address(arena, status, "InternalIP", node_object_address(arena, node));
    add_address(arena, status, "Hostname", name);
    add_info(arena, status);
    return status;
}

/* ---- The registrar ---- */

struct registered_node {
    struct node_registrar *registrar;
    char *name;
    int number;
    bool created;        /* the Node object exists and has trainyard's labels */
    bool failure_logged; /* reports of its status fail, and the first failure was logged */
};

struct node_registrar {
    struct loop *loop;
    struct kube_client *client;
    struct registered_node *nodes;
    const char *const *names; /* the names of the nodes; the list ends with NULL */
    int count;
    bool retired_marked;   /* the conditions of retired nodes were set to Unknown */
    const char *state_dir; /* its disk is checked for pressure */
    struct node_condition condition;
    struct loop_timer heartbeat;
};

static void send_status(struct registered_node *node);

static void on_node_object_status(void *context, struct json *object, const struct err *err)
{
    struct registered_node *node = context;
    bool was_logged = node->failure_logged;
    node->failure_logged = false;
    if (!err)
        return;
    node->failure_logged = err->code != ERR_NOT_FOUND;
    if (err->code == ERR_NOT_FOUND)
        node->created = false; /* deleted by a user: the next heartbeat registers it again */
    else if (!was_logged)
        log_warning(node->name, "cannot report the node's status: %s", err->message);
    loop_timer_start(&node->registrar->heartbeat, RETRY_MS);
}

static void send_status(struct registered_node *node)
{
    struct node_registrar *registrar = node->registrar;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *patch = json_object(arena), *images;
    struct json *status = node_object_status(arena, node->name, node->number, &registrar->condition,
                                             loop_wall_ms(registrar->loop));
    /* If the image table cannot be read, the status keeps its previous list of images. Pods that
     * need the table report the reason. */
    if (image_table_load(arena, registrar->state_dir, &images, NULL) == 0)
        json_set(arena, status, "images", image_report(arena, images));
    json_set(arena, patch, "status", status);
    kube_patch(registrar->client, &KUBE_NODES, NULL, node->name, "status", patch,
               on_node_object_status, node);
}

static void on_node_object_labelled(void *context, struct json *object, const struct err *err)
{
    struct registered_node *node = context;
    if (err) {
        log_warning(node->name, "cannot register the node: %s", err->message);
        loop_timer_start(&node->registrar->heartbeat, RETRY_MS);
        return;
    }
    node->created = true;
    send_status(node);
}

static void on_node_object_created(void *context, struct json *object, const struct err *err)
{
    struct registered_node *node = context;
    if (!err || err->code != ERR_EXISTS) {
        on_node_object_labelled(context, object, err);
        return;
    }
    /* The node exists from an earlier run. Only trainyard's own labels and annotations are set. */
    struct node_registrar *registrar = node->registrar;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct node_size *size = &registrar->condition.size;
    const struct json *wanted = node_object_make(arena, node->name, node->number, size);
    struct json *patch = json_object(arena);
    struct json *metadata = json_ensure_object(arena, patch, "metadata");
    json_set(arena, metadata, "labels", json_clone(arena, kube_meta_labels(wanted)));
    json_set(arena, metadata, "annotations", node_size_annotations(arena, size));
    kube_patch(registrar->client, &KUBE_NODES, NULL, node->name, NULL, patch,
               on_node_object_labelled, node);
}

static void on_retired_node_patched(void *context, struct json *object, const struct err *err)
{
    struct node_registrar *registrar = context;
    if (err && err->code != ERR_NOT_FOUND)
        registrar->retired_marked = false; /* the next heartbeat tries again */
}

static void on_nodes_listed(void *context, struct json *list, const struct err *err)
{
    struct node_registrar *registrar = context;
    if (err)
        return;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    registrar->retired_marked = true;
    JSON_EACH (node, json_get(list, "items")) {
        struct json *patch =
            node_retired_patch(arena, node, registrar->names, loop_wall_ms(registrar->loop));
        if (patch)
            kube_patch(registrar->client, &KUBE_NODES, NULL, kube_meta_name(node), "status", patch,
                       on_retired_node_patched, registrar);
    }
}

static void on_heartbeat(struct loop_timer *timer)
{
    struct node_registrar *registrar = CONTAINER_OF(timer, struct node_registrar, heartbeat);
    loop_timer_start(timer, HEARTBEAT_MS);
    struct node_room room;
    node_room_read(registrar->state_dir, &room);
    node_pressure_update(&registrar->condition.pressure, &room, loop_wall_ms(registrar->loop));
    if (!registrar->retired_marked)
        kube_list(registrar->client, &KUBE_NODES, NULL, NULL, NULL, on_nodes_listed, registrar);
    for (int i = 0; i < registrar->count; i++) {
        struct registered_node *node = &registrar->nodes[i];
        if (node->created) {
            send_status(node);
            continue;
        }
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        kube_create(registrar->client, &KUBE_NODES, NULL,
                    node_object_make(arena, node->name, node->number, &registrar->condition.size),
                    on_node_object_created, node);
    }
}

struct node_registrar *node_registrar_new(struct loop *loop, struct kube_client *client,
                                          const char *state_dir, const char *const *names,
                                          const struct node_size *size, int gpus, const char *plain)
{
    struct node_registrar *registrar = mem_zalloc(sizeof(*registrar));
    registrar->loop = loop;
    registrar->client = client;
    registrar->condition = (struct node_condition){
        .size = *size, .gpus = gpus, .plain = plain, .ready_change_ms = loop_wall_ms(loop)};
    registrar->names = names;
    registrar->state_dir = state_dir;
    node_pressure_init(&registrar->condition.pressure, registrar->condition.ready_change_ms);
    while (names[registrar->count])
        registrar->count++;
    registrar->nodes = mem_calloc((size_t)registrar->count + 1, sizeof(*registrar->nodes));
    for (int i = 0; i < registrar->count; i++)
        registrar->nodes[i] = (struct registered_node){
            .registrar = registrar, .name = mem_strdup(names[i]), .number = i};
    loop_timer_init(loop, &registrar->heartbeat, on_heartbeat);
    on_heartbeat(&registrar->heartbeat);
    return registrar;
}

/* Sends an event about the node. The uid in such an event is the node's name, because kubectl
 * searches for events about nodes by that uid. */
static void send_readiness_event(struct registered_node *node, const char *why)
{
    struct kube_client *client = node->registrar->client;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *about = kube_object_make(arena, &KUBE_NODES, NULL, node->name);
    json_set_string(arena, json_get(about, "metadata"), "uid", node->name);
    if (why)
        kube_event(client, about, "trainyard-node", "Warning", "NodeNotReady",
                   "Node %s status is now: NodeNotReady: %s", node->name, why);
    else
        kube_event(client, about, "trainyard-node", "Normal", "NodeReady",
                   "Node %s status is now: NodeReady", node->name);
}

void node_registrar_set_network_down(struct node_registrar *registrar, const char *why)
{
    struct node_condition *condition = &registrar->condition;
    bool changes = (condition->not_ready != NULL) != (why != NULL);
    condition->not_ready = why;
    if (!changes)
        return;
    condition->ready_change_ms = loop_wall_ms(registrar->loop);
    for (int i = 0; i < registrar->count; i++) {
        send_readiness_event(&registrar->nodes[i], why);
        if (registrar->nodes[i].created)
            send_status(&registrar->nodes[i]);
    }
}

struct node_registrar *node_registrar_free(struct node_registrar *registrar)
{
    if (!registrar)
        return NULL;
    loop_timer_stop(&registrar->heartbeat);
    for (int i = 0; i < registrar->count; i++)
        free(registrar->nodes[i].name);
    free(registrar->nodes);
    free(registrar);
    return NULL;
}
