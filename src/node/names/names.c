/* Computes the names of the cluster; see names/names.h. */
#include "node/names/names.h"

#include "base/str.h"
#include "kube/object.h"
#include "net/dns/message.h"
#include "node/network/pod_network.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

/* Adds the SRV name of a port, such as "_http._tcp.serving.default.svc.cluster.local". */
static void add_port(struct names_table *table, const char *service, const struct json *port,
                     const char *target)
{
    const char *name = json_get_string(port, "name", "");
    int64_t number = json_get_int(port, "port", 0);
    if (!name[0] || number <= 0 || number > 65535)
        return;
    char *protocol = arena_strdup(table->arena, json_get_string(port, "protocol", "TCP"));
    for (char *c = protocol; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    struct names_entry *entry =
        names_table_add(table, arena_printf(table->arena, "_%s._%s.%s", name, protocol, service));
    if (entry)
        names_entry_add_port(table, entry, (uint16_t)number, target);
}

/* Adds the PTR record of an address. */
static void add_pointer(struct names_table *table, struct in_addr address, const char *name)
{
    const uint8_t *octets = (const uint8_t *)&address.s_addr;
    struct names_entry *entry =
        names_table_add(table, arena_printf(table->arena, "%u.%u.%u.%u.in-addr.arpa", octets[3],
                                            octets[2], octets[1], octets[0]));
    if (entry)
        names_entry_add_pointer(table, entry, name);
}

/* Returns the name of one endpoint of a service. Its first label is the endpoint's host name, or
 * its address with dashes. */
static const char *endpoint_name(struct names_table *table, const struct json *address,
                                 const char *service)
{
    const char *host = json_get_string(address, "hostname", "");
    char *dashed = arena_strdup(table->arena, json_get_string(address, "ip", ""));
    for (char *c = dashed; *c; c++)
        *c = *c == '.' ? '-' : *c;
    return arena_printf(table->arena, "%s.%s", host[0] ? host : dashed, service);
}

/* Adds the names of one endpoint. `ports` are those of its subset. */
static void names_add_endpoint(struct names_table *table, struct names_entry *service,
                               const struct json *address, const struct json *ports, bool headless)
{
    struct in_addr ip;
    if (inet_pton(AF_INET, json_get_string(address, "ip", ""), &ip) != 1)
        return;
    const char *name = endpoint_name(table, address, service->name);
    struct names_entry *entry = names_table_add(table, name);
    if (entry)
        names_entry_add_address(table, entry, ip);
    if (!headless)
        return;
    names_entry_add_address(table, service, ip);
    if (!entry)
        return;
    add_pointer(table, ip, name);
    JSON_EACH (port, ports) {
        add_port(table, service->name, port, name);
    }
}

static void add_service(struct names_table *table, const struct service_table_source *source,
                        const struct json *service)
{
    const struct json *spec = json_get(service, "spec");
    struct names_entry *entry =
        names_table_add(table, arena_printf(table->arena, "%s.%s.svc.cluster.local",
                                            kube_meta_name(service), kube_meta_namespace(service)));
    struct in_addr cluster_ip;
    if (!entry)
        return;
    if (str_eq(json_get_string(spec, "type", ""), "ExternalName")) {
        char *alias = arena_strdup(table->arena, json_get_string(spec, "externalName", ""));
        size_t size = strlen(alias);
        if (size > 0 && alias[size - 1] == '.')
            alias[size - 1] = '\0';
        entry->alias = dns_is_name(alias) ? alias : NULL;
        return;
    }
    bool headless = inet_pton(AF_INET, json_get_string(spec, "clusterIP", ""), &cluster_ip) != 1;
    if (!headless) {
        names_entry_add_address(table, entry, cluster_ip);
        add_pointer(table, cluster_ip, entry->name);
        JSON_EACH (port, json_get(spec, "ports")) {
            add_port(table, entry->name, port, entry->name);
        }
    }
    const struct json *endpoints =
        source->endpoints(source->context, kube_meta_namespace(service), kube_meta_name(service));
    JSON_EACH (subset, json_get(endpoints, "subsets")) {
        JSON_EACH (address, json_get(subset, "addresses")) {
            names_add_endpoint(table, entry, address, json_get(subset, "ports"), headless);
        }
    }
}

void names_collect(struct names_table *table, const struct service_table_source *source)
{
    /* Users of Docker Desktop expect the API at this name. */
    struct names_entry *api = names_table_add(table, "kubernetes.docker.internal");
    struct in_addr gateway;
    inet_pton(AF_INET, POD_NETWORK_GATEWAY, &gateway);
    names_entry_add_address(table, api, gateway);
    const struct json *service;
    for (size_t at = 0; (service = source->next_service(source->context, &at));)
        add_service(table, source, service);
}
