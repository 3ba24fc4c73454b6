/* Assigns cluster addresses and node ports; see service_addresses.h. */
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
    struct map owners; /* maps "10.96.0.7" or "30390" to the key of the service that got it last */
    uint32_t next;     /* the offset in the range at which the next search starts */
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

/* Reads the newest version of a service, pending writes included. Returns NULL if it does not exist
 * or cannot be read. */
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

/* Returns the key of the service that got the value last, if that is not the service `key`;
 * otherwise NULL. That service may not have the value any more. */
static const char *other_owner(struct service_addresses *addresses, const char *value,
                               const char *key)
{
    const char *owner = map_get(&addresses->owners, value);
    return str_eq(owner, key) ? NULL : owner;
}

/* Returns whether a service other than `key` has the address. */
static bool is_taken(struct service_addresses *addresses, const char *address, const char *key)
{
    const char *owner = other_owner(addresses, address, key);
    if (!owner)
        return false;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    return has_address(read_service(addresses, arena, owner), address);
}

/* Writes into the index that the service `key` got the value. */
static void note_owner(struct service_addresses *addresses, const char *value, const char *key)
{
    free(map_put(&addresses->owners, value, mem_strdup(key)));
}

/* ---- Addresses ------------------------------------------------------------------------------- */

static void address_text(uint32_t offset, char text[VALUE_TEXT_MAX])
{
    struct in_addr address = {.s_addr = htonl((uint32_t)RANGE_BASE | offset)};
    inet_ntop(AF_INET, &address, text, VALUE_TEXT_MAX);
}

/* Returns whether the address is reserved for default/kubernetes, the service of the API, and
 * `service` is another service. */
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

/* Returns a free address, or NULL if none is free. Addresses are assigned in ascending order. So
 * the address of a deleted service, which a client may have cached, is reused as late as possible.
 */
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

/* Assigns a free address to a service without an address, or checks the address that it
 * requests. */
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

/* ---- Node ports ------------------------------------------------------------------------------ */

/* The state of the search for the node ports of one service. It uses indexes, because a service may
 * have tens of thousands of ports. */
struct port_search {
    struct service_addresses *addresses;
    const char *key; /* the store key of the service */
    /* The node ports and the health check port that the service requests, the node ports that it
     * was assigned so far, and its health check port before the change. */
    struct service_node_ports given;
    struct service_node_ports had;   /* the node ports that the service had before the change */
    struct service_node_ports taken; /* the node ports of the services in `read` */
    struct map read;                 /* the keys of other services that were read from the store */
    /* Maps "80" to the first port with this number that has a node port. */
    struct map by_number;
    struct map by_name; /* maps the name of a port to the port of this name before the change */
    bool full;          /* no node port is free */
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

/* Returns whether another service has the node port. */
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

/* Returns a free node port, or 0 if none is free. */
static int64_t find_node_port(struct port_search *search)
{
    enum { COUNT = SERVICE_NODE_PORT_LAST - SERVICE_NODE_PORT_FIRST + 1 };
    uint32_t start;
    /* The search starts at a random port, because another cluster on this machine may use the same
     * range. */
    rand_secure(&start, sizeof(start));
    for (uint32_t i = 0; i < COUNT && !search->full; i++) {
        int64_t number = SERVICE_NODE_PORT_FIRST + (start + i) % COUNT;
        /* Another port of this service must not have the node port either. */
        if (!service_node_ports_has(&search->given, number) &&
            !service_node_ports_has(&search->had, number) && !is_port_taken(search, number)) {
            service_node_ports_put(&search->given, number);
            return number;
        }
    }
    search->full = true;
    return 0;
}

/* Returns the node port that the port with this name had before the change. Returns 0 if it had
 * none, or if another port of the service has that node port now. */
static int64_t previous_node_port(struct port_search *search, const struct json *port)
{
    const struct json *before = map_get(&search->by_name, json_get_string(port, "name", ""));
    int64_t had = json_get_int(before, "nodePort", 0);
    if (service_node_ports_has(&search->given, had))
        return 0;
    service_node_ports_put(&search->given, had);
    return had;
}

/* Adds the node port of a port to `by_number`, unless `by_number` has an entry for the port's
 * number. */
static void share_node_port(struct port_search *search, struct json *port)
{
    char text[VALUE_TEXT_MAX];
    snprintf(text, sizeof(text), "%" PRId64, json_get_int(port, "port", 0));
    if (json_get_int(port, "nodePort", 0) && !map_get(&search->by_number, text))
        map_put(&search->by_number, text, port);
}

/* Returns the node port of another port with the same number, or 0. On create, ports with the same
 * number and different protocols share a node port. */
static int64_t shared_node_port(struct port_search *search, const struct json *port)
{
    char text[VALUE_TEXT_MAX];
    snprintf(text, sizeof(text), "%" PRId64, json_get_int(port, "port", 0));
    return json_get_int(map_get(&search->by_number, text), "nodePort", 0);
}

/* Checks a node port that the service did not have before, and adds it to the index if it is free.
 * A value of 0 means that find_node_port() found none. */
static void check_node_port(struct port_search *search, struct field_errors *errors,
                            const struct json *value, const char *field)
{
    if (search->full && value->type == JSON_INT && value->integer == 0)
        field_invalid(errors, field, value, "all ports of the range %d-%d are taken",
                      SERVICE_NODE_PORT_FIRST, SERVICE_NODE_PORT_LAST);
    else if (value->type != JSON_INT || !service_is_node_port(value->integer))
        field_invalid(errors, field, value,
                      "provided port is not in the valid range. The range of valid ports is %d-%d",
                      SERVICE_NODE_PORT_FIRST, SERVICE_NODE_PORT_LAST);
    else if (is_port_taken(search, value->integer))
        field_invalid(errors, field, value, "provided port is already allocated");
    else
        note_port(search->addresses, value->integer, search->key);
}

/* Returns whether the service gets node ports that it does not request. */
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

/* ---- One service ----------------------------------------------------------------------------- */

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
        return; /* a service without node ports has no health check port */
    _cleanup_(port_search_release) struct port_search search;
    port_search_init(&search, addresses, key, spec, before);
    assign_node_ports(&search, errors, spec, before);
    if (service_has_health_port(spec))
        assign_health_port(&search, errors, spec, before);
}

/* Adds the values of a stored service to the index. */
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
