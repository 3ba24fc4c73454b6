/* The cells of nodes, services, events and other kinds that have no separate file; see cells.h. */
#include "kube/table/cells.h"

#include "base/moment.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "kube/table/table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_MAX = 64 * 1024, ENDPOINTS_SHOWN = 3 };

char *table_age(struct arena *arena, const char *timestamp, int64_t now_ms)
{
    int64_t then_ms;
    if (str_is_empty(timestamp) || moment_parse(timestamp, &then_ms, NULL) < 0)
        return arena_strdup(arena, "<unknown>");
    char text[MOMENT_TEXT_MAX];
    moment_format_age(now_ms - then_ms, text);
    return arena_strdup(arena, text);
}

struct json *table_text_or_none(struct arena *arena, const char *text)
{
    return json_string(arena, str_is_empty(text) ? "<none>" : text);
}

/* Returns the text of the buffer as a cell; "<none>" if the buffer is empty. */
static struct json *cell_of_buf(struct arena *arena, const struct buf *buf)
{
    return table_text_or_none(arena, buf->data);
}

struct json *table_name(struct arena *arena, const struct json *object, int64_t now_ms)
{
    return json_string(arena, kube_meta_name(object));
}

struct json *table_age_cell(struct arena *arena, const struct json *object, int64_t now_ms)
{
    const char *created = json_get_string(json_get(object, "metadata"), "creationTimestamp", NULL);
    return json_string(arena, table_age(arena, created, now_ms));
}

struct json *table_phase(struct arena *arena, const struct json *object, int64_t now_ms)
{
    return json_string(arena, json_get_string(json_get(object, "status"), "phase", ""));
}

struct json *table_status_message(struct arena *arena, const struct json *object, int64_t now_ms)
{
    return json_string(arena, json_get_string(json_get(object, "status"), "message", ""));
}

struct json *table_data_count(struct arena *arena, const struct json *object, int64_t now_ms)
{
    size_t count =
        json_count(json_get(object, "data")) + json_count(json_get(object, "binaryData"));
    return json_int(arena, (int64_t)count);
}

struct json *table_secret_type(struct arena *arena, const struct json *object, int64_t now_ms)
{
    return json_string(arena, json_get_string(object, "type", "Opaque"));
}

/* ---- Nodes ---- */

struct json *table_node_status(struct arena *arena, const struct json *node, int64_t now_ms)
{
    const char *ready = !kube_condition_get(node, "Ready")      ? "Unknown"
                        : kube_condition_is_true(node, "Ready") ? "Ready"
                                                                : "NotReady";
    bool cordoned = json_get_bool(json_get(node, "spec"), "unschedulable", false);
    return json_stringf(arena, "%s%s", ready, cordoned ? ",SchedulingDisabled" : "");
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct json *join_sorted(struct arena *arena, const char **words, size_t count)
{
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, CELL_MAX);
    qsort(words, count, sizeof(*words), compare_text);
    for (size_t i = 0; i < count; i++)
        buf_printf(&buf, "%s%s", i ? "," : "", words[i]);
    return cell_of_buf(arena, &buf);
}

struct json *table_node_roles(struct arena *arena, const struct json *node, int64_t now_ms)
{
    static const char prefix[] = "node-role.kubernetes.io/";
    const struct json *labels = kube_meta_labels(node);
    const char **roles = ARENA_ARRAY(arena, const char *, json_count(labels) + 1);
    size_t count = 0;
    JSON_EACH (label, labels) {
        if (str_has_prefix(label->name, prefix) && label->name[sizeof(prefix) - 1])
            roles[count++] = label->name + sizeof(prefix) - 1;
        else if (str_eq(label->name, "kubernetes.io/role") && !str_is_empty(json_text(label)))
            roles[count++] = json_text(label);
    }
    return join_sorted(arena, roles, count);
}

static const char *node_info(const struct json *node, const char *name)
{
    return json_get_string(json_at(node, "status", "nodeInfo", NULL), name, NULL);
}

static struct json *node_address(struct arena *arena, const struct json *node, const char *type)
{
    JSON_EACH (address, json_at(node, "status", "addresses", NULL))
        if (str_eq(json_get_string(address, "type", NULL), type))
            return table_text_or_none(arena, json_get_string(address, "address", NULL));
    return json_string(arena, "<none>");
}

struct json *table_node_version(struct arena *arena, const struct json *node, int64_t now_ms)
{
    const char *version = node_info(node, "kubeletVersion");
    return json_string(arena, version ? version : "");
}

struct json *table_node_internal_ip(struct arena *arena, const struct json *node, int64_t now_ms)
{
    return node_address(arena, node, "InternalIP");
}

struct json *table_node_external_ip(struct arena *arena, const struct json *node, int64_t now_ms)
{
    return node_address(arena, node, "ExternalIP");
}

static struct json *info_or_unknown(struct arena *arena, const struct json *node, const char *name)
{
    const char *text = node_info(node, name);
    return json_string(arena, str_is_empty(text) ? "<unknown>" : text);
}

struct json *table_node_os_image(struct arena *arena, const struct json *node, int64_t now_ms)
{
    return info_or_unknown(arena, node, "osImage");
}

struct json *table_node_kernel(struct arena *arena, const struct json *node, int64_t now_ms)
{
    return info_or_unknown(arena, node, "kernelVersion");
}

struct json *table_node_runtime(struct arena *arena, const struct json *node, int64_t now_ms)
{
    return info_or_unknown(arena, node, "containerRuntimeVersion");
}

/* ---- Services and endpoints ---- */

static const char *service_type(const struct json *service)
{
    return json_get_string(json_get(service, "spec"), "type", "ClusterIP");
}

struct json *table_service_type(struct arena *arena, const struct json *service, int64_t now_ms)
{
    return json_string(arena, service_type(service));
}

struct json *table_service_cluster_ip(struct arena *arena, const struct json *service,
                                      int64_t now_ms)
{
    return table_text_or_none(arena, json_get_string(json_get(service, "spec"), "clusterIP", NULL));
}

static void append_word(struct buf *buf, const char *word)
{
    if (!str_is_empty(word))
        buf_printf(buf, "%s%s", buf->size ? "," : "", word);
}

struct json *table_service_external_ip(struct arena *arena, const struct json *service,
                                       int64_t now_ms)
{
    const struct json *spec = json_get(service, "spec");
    bool balanced = str_eq(service_type(service), "LoadBalancer");
    if (str_eq(service_type(service), "ExternalName"))
        return table_text_or_none(arena, json_get_string(spec, "externalName", NULL));
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, CELL_MAX);
    if (balanced) {
        JSON_EACH (ingress, json_at(service, "status", "loadBalancer", "ingress", NULL)) {
            const char *ip = json_get_string(ingress, "ip", "");
            append_word(&buf, *ip ? ip : json_get_string(ingress, "hostname", ""));
        }
    }
    JSON_EACH (ip, json_get(spec, "externalIPs"))
        append_word(&buf, json_text(ip));
    if (balanced && buf.size == 0)
        return json_string(arena, "<pending>");
    return cell_of_buf(arena, &buf);
}

struct json *table_service_ports(struct arena *arena, const struct json *service, int64_t now_ms)
{
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, CELL_MAX);
    JSON_EACH (port, json_at(service, "spec", "ports", NULL)) {
        int64_t node_port = json_get_int(port, "nodePort", 0);
        buf_printf(&buf, "%s%lld", buf.size ? "," : "", (long long)json_get_int(port, "port", 0));
        if (node_port)
            buf_printf(&buf, ":%lld", (long long)node_port);
        buf_printf(&buf, "/%s", json_get_string(port, "protocol", "TCP"));
    }
    return cell_of_buf(arena, &buf);
}

struct json *table_service_selector(struct arena *arena, const struct json *service, int64_t now_ms)
{
    const struct json *map = json_at(service, "spec", "selector", NULL);
    const char **pairs = ARENA_ARRAY(arena, const char *, json_count(map) + 1);
    size_t count = 0;
    JSON_EACH (entry, map) {
        const char *value = json_text(entry);
        pairs[count++] = arena_printf(arena, "%s=%s", entry->name, value ? value : "");
    }
    return join_sorted(arena, pairs, count);
}

struct json *table_endpoints(struct arena *arena, const struct json *endpoints, int64_t now_ms)
{
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, CELL_MAX);
    size_t count = 0;
    JSON_EACH (subset, json_get(endpoints, "subsets")) {
        const struct json *ports = json_get(subset, "ports");
        /* A headless service may have no port. Then the cell shows only its addresses. */
        size_t rounds = json_count(ports) ? json_count(ports) : 1;
        for (size_t i = 0; i < rounds; i++) {
            int64_t port = json_get_int(json_element(ports, i), "port", 0);
            JSON_EACH (address, json_get(subset, "addresses")) {
                if (count++ >= ENDPOINTS_SHOWN)
                    continue;
                append_word(&buf, json_get_string(address, "ip", ""));
                if (json_count(ports))
                    buf_printf(&buf, ":%lld", (long long)port);
            }
        }
    }
    if (count > ENDPOINTS_SHOWN)
        buf_printf(&buf, " + %zu more...", count - ENDPOINTS_SHOWN);
    return cell_of_buf(arena, &buf);
}

/* ---- Events ---- */

static const char *event_first(const struct json *event)
{
    const char *first = json_get_string(event, "firstTimestamp", "");
    return *first ? first : json_get_string(event, "eventTime", "");
}

struct json *table_event_first_seen(struct arena *arena, const struct json *event, int64_t now_ms)
{
    return json_string(arena, table_age(arena, event_first(event), now_ms));
}

struct json *table_event_last_seen(struct arena *arena, const struct json *event, int64_t now_ms)
{
    const char *last = json_get_string(event, "lastTimestamp", "");
    const char *series = json_get_string(json_get(event, "series"), "lastObservedTime", "");
    if (*series)
        last = series;
    return json_string(arena, table_age(arena, *last ? last : event_first(event), now_ms));
}

struct json *table_event_type(struct arena *arena, const struct json *event, int64_t now_ms)
{
    return json_string(arena, json_get_string(event, "type", ""));
}

struct json *table_event_reason(struct arena *arena, const struct json *event, int64_t now_ms)
{
    return json_string(arena, json_get_string(event, "reason", ""));
}

struct json *table_event_object(struct arena *arena, const struct json *event, int64_t now_ms)
{
    const struct json *about = json_get(event, "involvedObject");
    char *kind = arena_strdup(arena, json_get_string(about, "kind", ""));
    for (char *c = kind; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return json_stringf(arena, "%s/%s", kind, json_get_string(about, "name", ""));
}

struct json *table_event_subobject(struct arena *arena, const struct json *event, int64_t now_ms)
{
    return json_string(arena, json_get_string(json_get(event, "involvedObject"), "fieldPath", ""));
}

struct json *table_event_source(struct arena *arena, const struct json *event, int64_t now_ms)
{
    const struct json *source = json_get(event, "source");
    const char *component = json_get_string(source, "component", "");
    const char *host = json_get_string(source, "host", "");
    if (!*component)
        component = json_get_string(event, "reportingComponent", "");
    return json_stringf(arena, "%s%s%s", component, *host ? ", " : "", host);
}

struct json *table_event_message(struct arena *arena, const struct json *event, int64_t now_ms)
{
    const char *message = json_get_string(event, "message", "");
    while (isspace((unsigned char)*message))
        message++;
    size_t size = strlen(message);
    while (size && isspace((unsigned char)message[size - 1]))
        size--;
    return json_string_n(arena, message, size);
}

struct json *table_event_count(struct arena *arena, const struct json *event, int64_t now_ms)
{
    int64_t count =
        json_get_int(json_get(event, "series"), "count", json_get_int(event, "count", 1));
    return json_stringf(arena, "%lld", (long long)(count > 0 ? count : 1));
}

/* ---- Priority classes ---- */

struct json *table_priority_value(struct arena *arena, const struct json *class_, int64_t now_ms)
{
    return json_int(arena, json_get_int(class_, "value", 0));
}

struct json *table_priority_global(struct arena *arena, const struct json *class_, int64_t now_ms)
{
    return json_bool(arena, json_get_bool(class_, "globalDefault", false));
}
