/* Plans the names of a pod: its host name, /etc/hosts and /etc/resolv.conf; see plan/internal.h. */
#include "node/plan/internal.h"

#include "base/buf.h"
#include "base/str.h"
#include "kube/object.h"
#include "node/names/resolvers.h"
#include "node/network/pod_network.h"

#include <string.h>

enum { NAMES_TEXT_MAX = 256 * 1024, HOSTNAME_MAX = 63, KERNEL_HOSTNAME_MAX = 64 };

bool plan_uses_host_network(const struct json *pod)
{
    return json_get_bool(json_get(pod, "spec"), "hostNetwork", false);
}

const char *plan_pod_hostname(struct arena *arena, const struct json *pod)
{
    const char *given = json_get_string(json_get(pod, "spec"), "hostname", "");
    const char *name = given[0] ? given : kube_meta_name(pod);
    size_t size = strnlen(name, HOSTNAME_MAX);
    while (size > 0 && (name[size - 1] == '-' || name[size - 1] == '.'))
        size--; /* a host name must not end with these */
    return arena_strndup(arena, name, size);
}

const char *plan_hosts(struct planner *p)
{
    const struct json *pod = p->input->pod, *spec = json_get(pod, "spec");
    const char *subdomain = json_get_string(spec, "subdomain", "");
    _cleanup_buf_ struct buf text;
    buf_init(&text, NAMES_TEXT_MAX);
    buf_append_str(&text, "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n");
    buf_printf(&text, "%s", p->input->address);
    if (subdomain[0])
        buf_printf(&text, "\t%s.%s.%s.svc.cluster.local", p->facts.hostname, subdomain,
                   kube_meta_namespace(pod));
    buf_printf(&text, "\t%s\n", p->facts.hostname);
    /* Docker Desktop's name of the API. In the pod network the DNS responder answers it. */
    if (plan_uses_host_network(pod))
        buf_append_str(&text, "127.0.0.1\tkubernetes.docker.internal\n");
    JSON_EACH (alias, json_get(spec, "hostAliases")) {
        buf_append_str(&text, json_get_string(alias, "ip", ""));
        JSON_EACH (name, json_get(alias, "hostnames")) {
            buf_printf(&text, "\t%s", json_text(name) ? json_text(name) : "");
        }
        buf_append_char(&text, '\n');
    }
    return arena_strndup(p->arena, text.data, text.size);
}

static void append_all(struct buf *text, const struct json *list)
{
    JSON_EACH (item, list) {
        if (json_text(item))
            buf_printf(text, " %s", json_text(item));
    }
}

const char *plan_resolv_conf(struct planner *p)
{
    const struct json *spec = json_get(p->input->pod, "spec");
    const struct json *config = json_get(spec, "dnsConfig");
    const char *namespace_ = kube_meta_namespace(p->input->pod);
    const char *policy = json_get_string(spec, "dnsPolicy", "");
    bool none = str_eq(policy, "None");
    /* The DNS responder listens only in the pod network. A pod on the machine's network uses the
     * machine's name servers. */
    if (!none && plan_uses_host_network(p->input->pod))
        return p->input->machine_resolv_conf;
    _cleanup_buf_ struct buf text;
    buf_init(&text, NAMES_TEXT_MAX);
    buf_append_str(&text, "search");
    bool of_machine = str_eq(policy, "Default");
    if (!none && !of_machine)
        buf_printf(&text, " %s.svc.cluster.local svc.cluster.local cluster.local", namespace_);
    if (!none && p->input->machine_resolv_conf) {
        size_t size;
        const char *search = resolvers_search(p->input->machine_resolv_conf, &size);
        buf_printf(&text, "%s%.*s", size ? " " : "", (int)size, search);
    }
    append_all(&text, json_get(config, "searches"));
    buf_append_char(&text, '\n');
    if (!none)
        buf_append_str(&text, "nameserver " POD_NETWORK_GATEWAY "\n");
    JSON_EACH (server, json_get(config, "nameservers")) {
        buf_printf(&text, "nameserver %s\n", json_text(server) ? json_text(server) : "");
    }
    buf_append_str(&text, none || of_machine ? "options" : "options ndots:5");
    JSON_EACH (option, json_get(config, "options")) {
        const char *value = json_get_string(option, "value", NULL);
        buf_printf(&text, " %s%s%s", json_get_string(option, "name", ""), value ? ":" : "",
                   value ? value : "");
    }
    buf_append_char(&text, '\n');
    return arena_strndup(p->arena, text.data, text.size);
}

int plan_hostname(struct planner *p)
{
    const struct json *spec = json_get(p->input->pod, "spec");
    const char *subdomain = json_get_string(spec, "subdomain", "");
    p->spec->hostname = p->facts.hostname;
    if (!json_get_bool(spec, "setHostnameAsFQDN", false) || !subdomain[0])
        return 0;
    p->spec->hostname = arena_printf(p->arena, "%s.%s.%s.svc.cluster.local", p->facts.hostname,
                                     subdomain, kube_meta_namespace(p->input->pod));
    size_t size = strlen(p->spec->hostname);
    return size <= KERNEL_HOSTNAME_MAX
               ? 0
               : err_set(
                     p->err, ERR_INVALID,
                     "Failed to construct FQDN from pod hostname and cluster domain, FQDN %s is "
                     "too long (%d characters is the max, %zu characters requested)",
                     p->spec->hostname, KERNEL_HOSTNAME_MAX, size);
}
