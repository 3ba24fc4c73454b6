/* Names of the cluster; see names.h. */
#include "node/names.h"

#include "base/arena.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/selector.h"
#include "node/pod_network.h"

#include <arpa/inet.h>
#include <string.h>

enum {
    LABELS_MAX = 8,
    ALIASES_MAX = 8, /* behind each other; they may go in a circle */
};

static bool is_reachable(const struct json *service, const struct json *pod)
{
    const char *phase = json_get_string(json_get(pod, "status"), "phase", "");
    if (str_eq(phase, "Succeeded") || str_eq(phase, "Failed"))
        return false;
    return json_get_bool(json_get(service, "spec"), "publishNotReadyAddresses", false) ||
           kube_condition_is_true(pod, "Ready");
}

static bool has_hostname(const struct json *pod, const char *service, const char *hostname)
{
    const struct json *spec = json_get(pod, "spec");
    return str_eq(json_get_string(spec, "hostname", ""), hostname) &&
           str_eq(json_get_string(spec, "subdomain", ""), service);
}

static int lookup_service(const struct names_source *source, const char *namespace_,
                          const char *name, const char *hostname, struct dns_found *found)
{
    const struct json *service = source->service(source->context, namespace_, name);
    if (!service)
        return -1;
    const char *own = json_get_string(json_get(service, "spec"), "clusterIP", "");
    const char *alias = json_get_string(json_get(service, "spec"), "externalName", "");
    if (str_eq(json_get_string(json_get(service, "spec"), "type", ""), "ExternalName"))
        return !hostname && str_copy(found->alias, sizeof(found->alias), alias) ? 0 : -1;
    if (!hostname && inet_pton(AF_INET, own, &found->addresses[0]) == 1)
        return 1;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_selector selector;
    if (kube_selector_from_map(arena, json_at(service, "spec", "selector", NULL), &selector, NULL) <
        0)
        return -1;
    int count = 0;
    bool exists = !hostname;
    size_t position = 0;
    for (const struct json *pod;
         count < DNS_ADDRESSES_MAX &&
         (pod = source->next_pod(source->context, namespace_, &position));) {
        if (!kube_selector_matches(&selector, kube_meta_labels(pod)) ||
            (hostname && !has_hostname(pod, name, hostname)))
            continue;
        exists = true;
        const char *address = json_get_string(json_get(pod, "status"), "podIP", "");
        if (is_reachable(service, pod) &&
            inet_pton(AF_INET, address, &found->addresses[count]) == 1)
            count++;
    }
    return exists ? count : -1;
}

/* "10-244-1-2.default.pod": the address is in the name. */
static int lookup_pod(const char *label, struct in_addr *ret)
{
    char text[INET_ADDRSTRLEN];
    if (!str_copy(text, sizeof(text), label))
        return -1;
    for (char *at = text; *at; at++)
        if (*at == '-')
            *at = '.';
    return inet_pton(AF_INET, text, ret) == 1 ? 1 : -1;
}

/* One name, not what it stands for. */
static int lookup_one(const struct names_source *source, const char *name, struct dns_found *found)
{
    char copy[256];
    if (!str_copy(copy, sizeof(copy), name))
        return -1;
    if (str_eq(copy, "localhost")) {
        found->addresses[0].s_addr = htonl(INADDR_LOOPBACK);
        return 1;
    }
    /* Where people who come from a cluster on their desktop expect the API. */
    if (str_eq(copy, "kubernetes.docker.internal"))
        return inet_pton(AF_INET, POD_NETWORK_GATEWAY, &found->addresses[0]);
    static const char suffix[] = ".cluster.local";
    if (str_has_suffix(copy, suffix))
        copy[strlen(copy) - strlen(suffix)] = '\0';
    const char *labels[LABELS_MAX];
    int count = 0;
    char *rest = copy;
    for (char *label; (label = strsep(&rest, "."));) {
        if (count == LABELS_MAX || !label[0])
            return -1;
        labels[count++] = label;
    }
    if (count == 3 && str_eq(labels[2], "svc"))
        return lookup_service(source, labels[1], labels[0], NULL, found);
    if (count == 4 && str_eq(labels[3], "svc"))
        return lookup_service(source, labels[2], labels[1], labels[0], found);
    if (count == 3 && str_eq(labels[2], "pod"))
        return lookup_pod(labels[0], &found->addresses[0]);
    return -1;
}

/* It may be written as a whole name, with a dot at its end. */
static void cut_dot(char *name)
{
    size_t size = strlen(name);
    if (size > 0 && name[size - 1] == '.')
        name[size - 1] = '\0';
}

int names_lookup(const struct names_source *source, const char *name, struct dns_found *ret)
{
    int count = lookup_one(source, name, ret);
    char next[DNS_NAME_MAX + 1];
    cut_dot(ret->alias);
    memcpy(next, ret->alias, sizeof(next));
    for (int hops = 0; next[0] && hops < ALIASES_MAX; hops++) {
        struct dns_found beyond = {0};
        count = lookup_one(source, next, &beyond);
        memcpy(ret->addresses, beyond.addresses, sizeof(ret->addresses));
        memcpy(next, beyond.alias, sizeof(next));
        cut_dot(next);
    }
    return ret->alias[0] && count < 0 ? 0 : count; /* of names outside, others know the address */
}
