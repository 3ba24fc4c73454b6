/* Cluster addresses and node ports; see service_addresses.h. */
#include "engine/kinds/service_addresses.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/str.h"
#include "engine/stored/stored.h"
#include "kube/kinds/kinds.h"
#include "kube/kinds/rule.h"
#include "kube/kinds/service/service_spec.h"
#include "kube/object.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RANGE_TEXT "10.96.0.0/16"

enum {
    RANGE_BASE = 10 << 24 | 96 << 16,
    RANGE_FIRST = 2, /* 10.96.0.1 is the address of the API */
    RANGE_LAST = 0xfffe,
    VALUE_TEXT_MAX = 32,
};

struct service_addresses {
    struct store *store;
    struct map owners; /* "10.96.0.7" or "30390" → the key of a service that has or had it */
    uint32_t next;     /* offset in the range at which the next search starts */
};

static bool has_address(const struct json *service, const char *text)
{
    return str_eq(json_get_string(json_get(service, "spec"), "clusterIP", ""), text);
}

static char *service_key(struct arena *arena, const struct json *service)
{
    return stored_key(arena, &KUBE_SERVICE_KIND, kube_meta_namespace(service),
                      kube_meta_name(service));
}

/* Reads the service of the key, as the store knows it. Returns NULL if there is none. */
static struct json *read_service(struct service_addresses *addresses, struct arena *arena,
                                 const char *key)
{
    struct store_object *stored = store_get_pending(addresses->store, key);
    struct json *service;
    if (!stored)
        return NULL;
    int result = stored_read(arena, stored, &service, NULL);
    store_object_unref(stored);
    return result == 0 ? service : NULL;
}

/* The key of the service that may have the value, unless it is `key` itself; else NULL. */
static const char *other_owner(struct service_addresses *addresses, const char *value,
                               const char *key)
{
    const char *owner = map_get(&addresses->owners, value);
    return str_eq(owner, key) ? NULL : owner;
}

/* True if another service than that of `key` has the address. */
static bool is_taken(struct service_addresses *addresses, const char *address, const char *key)
{
    const char *owner = other_owner(addresses, address, key);
    if (!owner)
        return false;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    return has_address(read_service(addresses, arena, owner), address);
}

static void note_owner(struct service_addresses *addresses, const char *value, const char *key)
{
    free(map_put(&addresses->owners, value, mem_strdup(key)));
}

/* ---- addresses ------------------------------------------------------------------------------- */

static void address_text(uint32_t offset, char text[VALUE_TEXT_MAX])
{
    struct in_addr address = {.s_addr = htonl((uint32_t)RANGE_BASE | offset)};
    inet_ntop(AF_INET, &address, text, VALUE_TEXT_MAX);
}

/* The address of the API's own service is reserved for it, also before that service exists. */
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
        note_owner(addresses, text, key);
}

/* Addresses are given out in order and not at random, so that the address of a deleted service,
 * which a client may still have cached, is reused as late as possible. */
static const char *find_address(struct service_addresses *addresses, struct arena *arena,
                                const char *key)
{
    char text[VALUE_TEXT_MAX];
    for (uint32_t tries = RANGE_FIRST; tries <= RANGE_LAST; tries++) {
        uint32_t offset = addresses->next;
        addresses->next = offset < RANGE_LAST ? offset + 1 : RANGE_FIRST;
        address_text(offset, text);
        if (!is_taken(addresses, text, key)) {
            note_owner(addresses, text, key);
            return arena_strdup(arena, text);
        }
    }
    return NULL;
}

/* For a service without an address. A service keeps the address that it has. */
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

/* State of the search for the node ports of one service. It has an index per question, because a
 * service may have tens of thousands of ports. */
struct port_search {
    struct service_addresses *addresses;
    const char *key;                 /* of the service */
    struct service_node_ports given; /* its node ports so far */
    struct service_node_ports had;   /* its node ports before the change */
    struct service_node_ports taken; /* those of the services in `read` */
    struct map read;                 /* keys of other services that were read from the store */
    struct map by_number;            /* "80" → the first port of this number with a node port */
    struct map by_name;              /* the name of a port → the port before the change */
    bool full;                       /* no node port is free */
};

static void port_search_init(struct port_search *search, struct service_addresses *addresses,
                             const char *key, const struct json *spec, const struct json *before)
{
    *search = (struct port_search){.addresses = addresses, .key = key};
    service_node_ports_add(&search->given, spec);
    service_node_ports_put(&search->given, json_get_int(spec, "healthCheckNodePort", 0));
    service_node_ports_put(&search->given, json_get_int(before, "healthCheckNodePort", 0));
    service_node_ports_add(&search->had, before);
    JSON_EACH (port, json_get(before, "ports"))
        map_put(&search->by_name, json_get_string(port, "name", ""), port);
}

static void port_search_release(struct port_search *search)
{
    map_release(&search->read);
    map_release(&search->by_number);
    map_release(&search->by_name);
}

static bool is_port_taken(struct port_search *search, int64_t number)
{
    char text[VALUE_TEXT_MAX];
    snprintf(text, sizeof(text), "%" PRId64, number);
    const char *owner = other_owner(search->addresses, text, search->key);
    if (owner && !rule_seen(&search->read, owner)) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        const struct json *spec = json_get(read_service(search->addresses, arena, owner), "spec");
        service_node_ports_add(&search->taken, spec);
        service_node_ports_put(&search->taken, json_get_int(spec, "healthCheckNodePort", 0));
    }
    return owner && service_node_ports_has(&search->taken, number);
}

static void note_port(struct service_addresses *addresses, int64_t number, const char *key)
{
    char text[VALUE_TEXT_MAX];
    snprintf(text, sizeof(text), "%" PRId64, number);
    note_owner(addresses, text, key);
}

static int64_t find_node_port(struct port_search *search)
{
    enum { COUNT = SERVICE_NODE_PORT_LAST - SERVICE_NODE_PORT_FIRST + 1 };
    uint32_t start;
    /* At random: another cluster on this machine takes ports from the same range. */
    rand_secure(&start, sizeof(start));
    for (uint32_t i = 0; i < COUNT && !search->full; i++) {
        int64_t number = SERVICE_NODE_PORT_FIRST + (start + i) % COUNT;
        /* Nor one that another port of this service has. */
        if (!service_node_ports_has(&search->given, number) &&
            !service_node_ports_has(&search->had, number) && !is_port_taken(search, number)) {
            service_node_ports_put(&search->given, number);
            return number;
        }
    }
    search->full = true;
    return 0;
}

/* The node port that the port of this name had before the change, unless another port of the
 * service has it now; else 0. */
static int64_t previous_node_port(struct port_search *search, const struct json *port)
{
    const struct json *before = map_get(&search->by_name, json_get_string(port, "name", ""));
    int64_t had = json_get_int(before, "nodePort", 0);
    if (service_node_ports_has(&search->given, had))
        return 0;
    service_node_ports_put(&search->given, had);
    return had;
}

/* Makes the node port of a port known to shared_node_port(), unless the number has one. */
static void share_node_port(struct port_search *search, struct json *port)
{
    char text[VALUE_TEXT_MAX];
    snprintf(text, sizeof(text), "%" PRId64, json_get_int(port, "port", 0));
    if (json_get_int(port, "nodePort", 0) && !map_get(&search->by_number, text))
        map_put(&search->by_number, text, port);
}

/* On create, ports with the same number and different protocols share a node port. */
static int64_t shared_node_port(struct port_search *search, const struct json *port)
{
    char text[VALUE_TEXT_MAX];
    snprintf(text, sizeof(text), "%" PRId64, json_get_int(port, "port", 0));
    return json_get_int(map_get(&search->by_number, text), "nodePort", 0);
}

/* Checks a node port that the service did not have before. */
static void check_node_port(struct port_search *search, struct field_errors *errors,
                            const struct json *value, const char *field)
{
    if (value->type != JSON_INT || !service_is_node_port(value->integer))
        field_invalid(errors, field, value,
                      "provided port is not in the valid range. The range of valid ports is %d-%d",
                      SERVICE_NODE_PORT_FIRST, SERVICE_NODE_PORT_LAST);
    else if (is_port_taken(search, value->integer))
        field_invalid(errors, field, value, "provided port is already allocated");
    else
        note_port(search->addresses, value->integer, search->key);
}

/* Whether the service gets node ports that it does not ask for. */
static bool gives_node_ports(const struct json *spec)
{
    return service_is(spec, "NodePort") ||
           json_get_bool(spec, "allocateLoadBalancerNodePorts", true);
}

static void assign_node_ports(struct port_search *search, struct field_errors *errors,
                              struct json *spec, const struct json *before)
{
    const struct json *ports = json_get(spec, "ports");
    bool had_any = before && service_has_node_ports(before);
    size_t position = 0;
    JSON_EACH (port, ports)
        share_node_port(search, port);
    JSON_EACH (port, ports) {
        const char *field = field_path(errors, "spec.ports[%zu].nodePort", position++);
        if (json_get_int(port, "nodePort", 0) == 0) {
            int64_t number = had_any   ? previous_node_port(search, port)
                             : !before ? shared_node_port(search, port)
                                       : 0;
            if (!number && !gives_node_ports(spec))
                continue;
            json_set_int(errors->arena, port, "nodePort", number ? number : find_node_port(search));
            share_node_port(search, port);
        }
        if (!had_any || !service_node_ports_has(&search->had, json_get_int(port, "nodePort", 0)))
            check_node_port(search, errors, json_get(port, "nodePort"), field);
    }
}

static void assign_health_port(struct port_search *search, struct field_errors *errors,
                               struct json *spec, const struct json *before)
{
    static const char name[] = "healthCheckNodePort";
    bool had = before && service_has_health_port(before);
    if (json_get_int(spec, name, 0) == 0)
        json_set_int(errors->arena, spec, name,
                     had ? json_get_int(before, name, 0) : find_node_port(search));
    if (!had)
        check_node_port(search, errors, json_get(spec, name), "spec.healthCheckNodePort");
}

/* ---- the whole ------------------------------------------------------------------------------- */

void service_addresses_assign(struct service_addresses *addresses, struct field_errors *errors,
                              struct json *service, const struct json *old)
{
    const char *key = service_key(errors->arena, service);
    struct json *spec = json_get(service, "spec");
    const struct json *before = json_get(old, "spec");
    bool is_new = !before || service_is(before, "ExternalName");
    if (is_new && !service_is(spec, "ExternalName") && !service_is_headless(spec))
        assign_address(addresses, errors, service, key);
    if (!service_has_node_ports(spec))
        return; /* then it gets no port for health checks either */
    _cleanup_(port_search_release) struct port_search search;
    port_search_init(&search, addresses, key, spec, before);
    assign_node_ports(&search, errors, spec, before);
    if (service_has_health_port(spec))
        assign_health_port(&search, errors, spec, before);
}

static void learn_service(struct service_addresses *addresses, struct store_object *stored)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *service;
    if (stored_read(arena, stored, &service, NULL) < 0)
        return;
    note_owner(addresses, json_get_string(json_get(service, "spec"), "clusterIP", ""), stored->key);
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
    size_t count = store_list(store, stored_key(arena, &KUBE_SERVICE_KIND, "", NULL), &objects);
    for (size_t i = 0; i < count; i++) {
        learn_service(addresses, objects[i]);
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
