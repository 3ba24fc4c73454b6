/* Cluster addresses and node ports; see service_addresses.h. */
#include "engine/service_addresses.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/str.h"
#include "engine/defaults.h"
#include "engine/kinds.h"
#include "engine/rest.h"
#include "kube/object.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RANGE_TEXT "10.96.0.0/16"

enum {
    RANGE_BASE = 10 << 24 | 96 << 16,
    RANGE_FIRST = 2, /* 10.96.0.1 is the API's */
    RANGE_LAST = 0xfffe,
    NODE_PORT_FIRST = 30000,
    NODE_PORT_LAST = 32767,
    VALUE_TEXT_MAX = 32,
};

struct service_addresses {
    struct store *store;
    struct map owners; /* "10.96.0.7" or "30390" → the key of a service that has it, or had */
    uint32_t next;     /* offset in the range where the search goes on */
};

static bool has_address(const struct json *service, const char *text)
{
    return str_eq(json_get_string(json_get(service, "spec"), "clusterIP", ""), text);
}

static bool has_node_port(const struct json *service, const char *text)
{
    JSON_EACH (port, json_at(service, "spec", "ports", NULL)) {
        char number[VALUE_TEXT_MAX];
        snprintf(number, sizeof(number), "%" PRId64, json_get_int(port, "nodePort", 0));
        if (str_eq(number, text))
            return true;
    }
    return false;
}

static char *key_of(struct arena *arena, const struct json *service)
{
    return rest_key(arena, registry_built_in("", "v1", "services"), kube_meta_namespace(service),
                    kube_meta_name(service));
}

/* True if another service than that of `key` has the value, as the store knows it. */
static bool is_taken(struct service_addresses *addresses, const char *value, const char *key)
{
    const char *owner = map_get(&addresses->owners, value);
    if (!owner || str_eq(owner, key))
        return false;
    struct store_object *stored = store_get_pending(addresses->store, owner);
    if (!stored)
        return false;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *service;
    struct err err;
    bool taken = rest_parse(arena, stored, &service, &err) == 0 &&
                 (has_address(service, value) || has_node_port(service, value));
    store_object_unref(stored);
    return taken;
}

static void note(struct service_addresses *addresses, const char *value, const char *key)
{
    free(map_put(&addresses->owners, value, mem_strdup(key)));
}

/* ---- addresses ------------------------------------------------------------------------------- */

static void address_text(uint32_t offset, char text[VALUE_TEXT_MAX])
{
    struct in_addr address = {.s_addr = htonl((uint32_t)RANGE_BASE | offset)};
    inet_ntop(AF_INET, &address, text, VALUE_TEXT_MAX);
}

/* The one for the API itself is kept for it, whether it is there yet or not. */
static bool is_kept_for_api(uint32_t offset, const struct json *service)
{
    return offset < RANGE_FIRST && !(str_eq(kube_meta_namespace(service), "default") &&
                                     str_eq(kube_meta_name(service), "kubernetes"));
}

static void check_address(struct service_addresses *addresses, struct field_errors *errors,
                          const struct json *service, const char *text, const char *key)
{
    const struct json *shown = json_at(service, "spec", "clusterIPs", NULL);
    struct in_addr address;
    uint32_t number = inet_pton(AF_INET, text, &address) == 1 ? ntohl(address.s_addr) : 0;
    uint32_t offset = number & 0xffff;
    if (number == 0)
        field_invalid(errors, "spec.clusterIPs[0]", json_first(shown),
                      "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    else if ((number & 0xffff0000) != RANGE_BASE || offset == 0 || offset > RANGE_LAST)
        field_invalid(errors, "spec.clusterIPs", shown,
                      "failed to allocate IP %s: the provided IP (%s) is not in the valid range. "
                      "The range of valid IPs is " RANGE_TEXT,
                      text, text);
    else if (is_kept_for_api(offset, service) || is_taken(addresses, text, key))
        field_invalid(errors, "spec.clusterIPs", shown,
                      "failed to allocate IP %s: provided IP is already allocated", text);
    else
        note(addresses, text, key);
}

/* One after the other rather than at random, so that an address somebody may still remember is
 * given out again as late as can be. */
static const char *find_address(struct service_addresses *addresses, struct arena *arena,
                                const char *key)
{
    char text[VALUE_TEXT_MAX];
    for (uint32_t tries = RANGE_FIRST; tries <= RANGE_LAST; tries++) {
        uint32_t offset = addresses->next;
        addresses->next = offset < RANGE_LAST ? offset + 1 : RANGE_FIRST;
        address_text(offset, text);
        if (!is_taken(addresses, text, key)) {
            note(addresses, text, key);
            return arena_strdup(arena, text);
        }
    }
    return NULL;
}

static void assign_address(struct service_addresses *addresses, struct field_errors *errors,
                           struct json *service, const struct json *old, const char *key)
{
    struct arena *arena = errors->arena;
    struct json *spec = json_ensure_object(arena, service, "spec");
    const char *had = json_get_string(json_get(old, "spec"), "clusterIP", "");
    if (default_is_missing(spec, "clusterIP")) {
        const char *listed = json_text(json_first(json_get(spec, "clusterIPs")));
        const char *address = listed ? listed : had[0] ? had : find_address(addresses, arena, key);
        if (!address) {
            field_required(errors, "spec.clusterIP", "all addresses of " RANGE_TEXT " are taken");
            return;
        }
        json_set_string(arena, spec, "clusterIP", address);
    }
    struct json *list = json_array(arena);
    json_append(list, json_clone(arena, json_get(spec, "clusterIP")));
    json_set(arena, spec, "clusterIPs", list);
    const char *address = json_get_string(spec, "clusterIP", "");
    if (!str_eq(address, KIND_SERVICE_HEADLESS) && !str_eq(address, had))
        check_address(addresses, errors, service, address, key);
}

/* ---- node ports ------------------------------------------------------------------------------ */

static int64_t find_node_port(struct service_addresses *addresses, const char *key)
{
    enum { COUNT = NODE_PORT_LAST - NODE_PORT_FIRST + 1 };
    char text[VALUE_TEXT_MAX];
    uint32_t start;
    /* At random: another cluster of this machine has the same range and the same ports to take. */
    rand_secure(&start, sizeof(start));
    for (uint32_t i = 0; i < COUNT; i++) {
        int port = (int)(NODE_PORT_FIRST + (start + i) % COUNT);
        snprintf(text, sizeof(text), "%d", port);
        /* Also not one that this very service has at another of its ports. */
        if (!is_taken(addresses, text, key) && !str_eq(map_get(&addresses->owners, text), key)) {
            note(addresses, text, key);
            return port;
        }
    }
    return 0;
}

/* The node port that the same port of the service had before. */
static int64_t previous_node_port(const struct json *old, const struct json *port)
{
    JSON_EACH (other, json_at(old, "spec", "ports", NULL)) {
        if (json_get_int(other, "port", 0) == json_get_int(port, "port", 0) &&
            str_eq(json_get_string(other, "protocol", "TCP"),
                   json_get_string(port, "protocol", "TCP")))
            return json_get_int(other, "nodePort", 0);
    }
    return 0;
}

static void check_node_port(struct service_addresses *addresses, struct field_errors *errors,
                            const struct json *port, const char *field, const char *key)
{
    const struct json *value = json_get(port, "nodePort");
    char text[VALUE_TEXT_MAX];
    if (value->type != JSON_INT || value->integer < NODE_PORT_FIRST ||
        value->integer > NODE_PORT_LAST) {
        field_invalid(errors, field, value,
                      "provided port is not in the valid range. The range of valid ports is %d-%d",
                      NODE_PORT_FIRST, NODE_PORT_LAST);
        return;
    }
    snprintf(text, sizeof(text), "%" PRId64, value->integer);
    if (is_taken(addresses, text, key))
        field_invalid(errors, field, value, "provided port is already allocated");
    else
        note(addresses, text, key);
}

static void assign_node_ports(struct service_addresses *addresses, struct field_errors *errors,
                              struct json *service, const struct json *old, const char *key)
{
    bool wanted = str_eq(json_get_string(json_get(service, "spec"), "type", ""), "NodePort");
    size_t position = 0;
    JSON_EACH (port, json_at(service, "spec", "ports", NULL)) {
        const char *field = field_path(errors, "spec.ports[%zu].nodePort", position++);
        if (port->type != JSON_OBJECT)
            continue;
        int64_t given = json_get_int(port, "nodePort", 0);
        int64_t had = previous_node_port(old, port);
        bool open = default_is_missing(port, "nodePort") ||
                    (json_get(port, "nodePort")->type == JSON_INT && given == 0);
        /* What the type gave goes with the type. */
        if (!wanted && (open || given == had))
            json_remove(port, "nodePort");
        else if (wanted && open)
            json_set_int(errors->arena, port, "nodePort",
                         had ? had : find_node_port(addresses, key));
        if (wanted && (!had || json_get_int(port, "nodePort", 0) != had))
            check_node_port(addresses, errors, port, field, key);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

void service_addresses_assign(struct service_addresses *addresses, struct field_errors *errors,
                              struct json *service, const struct json *old)
{
    const char *key = key_of(errors->arena, service);
    if (json_get(service, "spec") && json_get(service, "spec")->type != JSON_OBJECT)
        return; /* validation says so */
    assign_address(addresses, errors, service, old, key);
    assign_node_ports(addresses, errors, service, old, key);
}

static void learn(struct service_addresses *addresses, const struct store_object *stored)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *service;
    struct err err;
    if (rest_parse(arena, stored, &service, &err) < 0)
        return; /* whoever reads it is told */
    note(addresses, json_get_string(json_get(service, "spec"), "clusterIP", ""), stored->key);
    JSON_EACH (port, json_at(service, "spec", "ports", NULL)) {
        char text[VALUE_TEXT_MAX];
        snprintf(text, sizeof(text), "%" PRId64, json_get_int(port, "nodePort", 0));
        note(addresses, text, stored->key);
    }
}

struct service_addresses *service_addresses_new(struct store *store)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct service_addresses *addresses = mem_zalloc(sizeof(*addresses));
    struct store_object **objects;
    addresses->store = store;
    addresses->next = RANGE_FIRST;
    map_init(&addresses->owners);
    size_t count = store_list(
        store, rest_key(arena, registry_built_in("", "v1", "services"), "", NULL), &objects);
    for (size_t i = 0; i < count; i++) {
        learn(addresses, objects[i]);
        store_object_unref(objects[i]);
    }
    free(objects);
    return addresses;
}

struct service_addresses *service_addresses_free(struct service_addresses *addresses)
{
    if (!addresses)
        return NULL;
    const char *value;
    void *owner;
    for (size_t i = 0; map_next(&addresses->owners, &i, &value, &owner);)
        free(owner);
    map_release(&addresses->owners);
    free(addresses);
    return NULL;
}
