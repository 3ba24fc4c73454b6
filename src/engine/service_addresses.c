/* Cluster addresses and node ports; see service_addresses.h. */
#include "engine/service_addresses.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/str.h"
#include "engine/rest.h"
#include "engine/service_spec.h"
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

/* One of the ports has this node port. */
static bool has_port(const struct json *ports, int64_t number)
{
    JSON_EACH (port, ports) {
        if (json_get_int(port, "nodePort", 0) == number)
            return true;
    }
    return false;
}

static bool has_node_port(const struct json *service, const char *text)
{
    const struct json *spec = json_get(service, "spec");
    int64_t number;
    return str_to_int64(text, 1, NODE_PORT_LAST, &number, NULL) == 0 &&
           (has_port(json_get(spec, "ports"), number) ||
            json_get_int(spec, "healthCheckNodePort", 0) == number);
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
    bool taken = stored_read(arena, stored, &service, NULL) == 0 &&
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
    if ((number & 0xffff0000) != RANGE_BASE || offset == 0 || offset > RANGE_LAST)
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

/* To a service that had none: an address that it once has is its own for good. */
static void assign_address(struct service_addresses *addresses, struct field_errors *errors,
                           struct json *service, const char *key)
{
    struct arena *arena = errors->arena;
    struct json *spec = json_get(service, "spec");
    const char *asked = json_get_string(spec, "clusterIP", "");
    if (asked[0]) {
        check_address(addresses, errors, service, asked, key);
        return;
    }
    const char *address = find_address(addresses, arena, key);
    if (!address) {
        field_required(errors, "spec.clusterIP", "all addresses of " RANGE_TEXT " are taken");
        return;
    }
    struct json *list = json_array(arena);
    json_append(list, json_string(arena, address));
    json_set(arena, spec, "clusterIPs", list);
    json_set_string(arena, spec, "clusterIP", address);
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

/* The node port that the port of this name had before, unless another has it now. */
static int64_t previous_node_port(const struct json *ports, const struct json *old_ports,
                                  const struct json *port)
{
    int64_t had = 0;
    JSON_EACH (other, old_ports) {
        if (str_eq(json_get_string(other, "name", ""), json_get_string(port, "name", "")))
            had = json_get_int(other, "nodePort", 0);
    }
    return has_port(ports, had) ? 0 : had;
}

/* Of a service in the making: ports of one number, for several protocols, share a node port. */
static int64_t shared_node_port(const struct json *ports, const struct json *port)
{
    JSON_EACH (other, ports) {
        int64_t number = json_get_int(other, "nodePort", 0);
        if (number && json_get_int(other, "port", 0) == json_get_int(port, "port", 0))
            return number;
    }
    return 0;
}

/* A port that the service did not have before. */
static void check_node_port(struct service_addresses *addresses, struct field_errors *errors,
                            const struct json *value, const char *field, const char *key)
{
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

/* Where none is given out it may still be asked for. */
static bool gives_node_ports(const struct json *spec)
{
    return service_is(spec, "NodePort") ||
           json_get_bool(spec, "allocateLoadBalancerNodePorts", true);
}

static void assign_node_ports(struct service_addresses *addresses, struct field_errors *errors,
                              struct json *spec, const struct json *before, const char *key)
{
    const struct json *ports = json_get(spec, "ports"), *old_ports = json_get(before, "ports");
    bool had_any = before && service_has_node_ports(before);
    size_t position = 0;
    JSON_EACH (port, ports) {
        const char *field = field_path(errors, "spec.ports[%zu].nodePort", position++);
        if (json_get_int(port, "nodePort", 0) == 0) {
            int64_t number = had_any   ? previous_node_port(ports, old_ports, port)
                             : !before ? shared_node_port(ports, port)
                                       : 0;
            if (!number && !gives_node_ports(spec))
                continue;
            json_set_int(errors->arena, port, "nodePort",
                         number ? number : find_node_port(addresses, key));
        }
        if (!had_any || !has_port(old_ports, json_get_int(port, "nodePort", 0)))
            check_node_port(addresses, errors, json_get(port, "nodePort"), field, key);
    }
}

static void assign_health_port(struct service_addresses *addresses, struct field_errors *errors,
                               struct json *spec, const struct json *before, const char *key)
{
    static const char name[] = "healthCheckNodePort";
    bool had = before && service_has_health_port(before);
    if (json_get_int(spec, name, 0) == 0)
        json_set_int(errors->arena, spec, name,
                     had ? json_get_int(before, name, 0) : find_node_port(addresses, key));
    if (!had)
        check_node_port(addresses, errors, json_get(spec, name), "spec.healthCheckNodePort", key);
}

/* ---- the whole ------------------------------------------------------------------------------- */

void service_addresses_assign(struct service_addresses *addresses, struct field_errors *errors,
                              struct json *service, const struct json *old)
{
    const char *key = key_of(errors->arena, service);
    struct json *spec = json_get(service, "spec");
    const struct json *before = json_get(old, "spec");
    bool is_new = !before || service_is(before, "ExternalName");
    if (is_new && !service_is(spec, "ExternalName") && !service_is_headless(spec))
        assign_address(addresses, errors, service, key);
    if (service_has_node_ports(spec))
        assign_node_ports(addresses, errors, spec, before, key);
    if (service_has_health_port(spec))
        assign_health_port(addresses, errors, spec, before, key);
}

static void note_port(struct service_addresses *addresses, int64_t number, const char *key)
{
    char text[VALUE_TEXT_MAX];
    snprintf(text, sizeof(text), "%" PRId64, number);
    note(addresses, text, key);
}

static void learn(struct service_addresses *addresses, struct store_object *stored)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *service;
    if (stored_read(arena, stored, &service, NULL) < 0)
        return;
    note(addresses, json_get_string(json_get(service, "spec"), "clusterIP", ""), stored->key);
    note_port(addresses, json_get_int(json_get(service, "spec"), "healthCheckNodePort", 0),
              stored->key);
    JSON_EACH (port, json_at(service, "spec", "ports", NULL))
        note_port(addresses, json_get_int(port, "nodePort", 0), stored->key);
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
