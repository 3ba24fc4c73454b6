/* Serves the discovery documents; see discovery.h. */
#include "engine/openapi/discovery.h"

#include "base/json/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/health.h"
#include "engine/kinds/registry.h"
#include "engine/openapi/cached_document.h"
#include "engine/openapi/discovery_aggregated.h"
#include "engine/openapi/openapi.h"
#include "net/accept.h"

#include <string.h>

/* kubectl warns if the server's minor version differs from kubectl's by more than one. No version
 * avoids the warning for all clients, so this is the middle of the versions of kubectl that work
 * with this server. */
static const char KUBERNETES_MAJOR[] = "1", KUBERNETES_MINOR[] = "28";

static struct json *make_typed_object(struct arena *arena, const char *kind,
                                      const char *api_version)
{
    struct json *object = json_object(arena);
    json_set_string(arena, object, "kind", kind);
    json_set_string(arena, object, "apiVersion", api_version);
    return object;
}

struct json *discovery_names(struct arena *arena, const char *const *list)
{
    struct json *array = json_array(arena);
    for (; list && *list; list++)
        json_append(array, json_string(arena, *list));
    return array;
}

struct json *discovery_verbs(struct arena *arena, unsigned mask)
{
    struct json *array = json_array(arena);
    for (unsigned verb = 1; verb <= VERB_LAST; verb <<= 1)
        if (mask & verb)
            json_append(array, json_string(arena, kube_verb_name((enum kube_verb)verb)));
    return array;
}

static struct json *resource_entry(struct arena *arena, const struct kube_kind *resource)
{
    struct json *entry = json_object(arena);
    json_set_string(arena, entry, "name", resource->id.plural);
    json_set_string(arena, entry, "singularName", resource->singular);
    json_set_bool(arena, entry, "namespaced", resource->id.namespaced);
    json_set_string(arena, entry, "kind", resource->id.kind);
    json_set(arena, entry, "verbs", discovery_verbs(arena, resource->verbs));
    if (resource->short_names)
        json_set(arena, entry, "shortNames", discovery_names(arena, resource->short_names));
    if (resource->categories)
        json_set(arena, entry, "categories", discovery_names(arena, resource->categories));
    return entry;
}

static struct json *sub_entry(struct arena *arena, const struct kube_kind *resource,
                              const struct kube_subresource *sub)
{
    struct json *entry = json_object(arena);
    json_set(arena, entry, "name", json_stringf(arena, "%s/%s", resource->id.plural, sub->name));
    json_set_string(arena, entry, "singularName", "");
    json_set_bool(arena, entry, "namespaced", resource->id.namespaced);
    if (sub->group) {
        json_set_string(arena, entry, "group", sub->group);
        json_set_string(arena, entry, "version", sub->version);
    }
    json_set_string(arena, entry, "kind", sub->kind);
    json_set(arena, entry, "verbs", discovery_verbs(arena, sub->verbs));
    return entry;
}

static struct json *resource_list(struct arena *arena, const struct registry *registry,
                                  const char *group, const char *version)
{
    struct json *list = make_typed_object(arena, "APIResourceList", "v1");
    json_set(arena, list, "groupVersion",
             group[0] ? json_stringf(arena, "%s/%s", group, version) : json_string(arena, version));
    struct json *resources = json_ensure_array(arena, list, "resources");
    const struct kube_kind *resource;
    for (size_t i = 0; (resource = registry_at(registry, i)); i++) {
        if (!str_eq(resource->id.group, group) || !kube_kind_serves_version(resource, version))
            continue;
        json_append(resources, resource_entry(arena, resource));
        const struct kube_subresource *sub = resource->subresources;
        for (; sub && sub->id != SUB_NONE; sub++)
            json_append(resources, sub_entry(arena, resource, sub));
    }
    return list;
}

static struct json *version_entry(struct arena *arena, const char *group, const char *version)
{
    struct json *entry = json_object(arena);
    json_set(arena, entry, "groupVersion", json_stringf(arena, "%s/%s", group, version));
    json_set_string(arena, entry, "version", version);
    return entry;
}

static void fill_group(struct arena *arena, const struct registry *registry, struct json *entry,
                       const char *group)
{
    json_set_string(arena, entry, "name", group);
    struct json *versions = json_ensure_array(arena, entry, "versions");
    const char **list = registry_versions(registry, arena, group);
    for (size_t i = 0; list[i]; i++)
        json_append(versions, version_entry(arena, group, list[i]));
    json_set(arena, entry, "preferredVersion", version_entry(arena, group, list[0]));
}

/* Makes the response to /api: the versions of the core group, and the address at which the
 * client reached the server. The response has no apiVersion, unlike the response to /apis. */
static struct json *api_versions(struct arena *arena, const char *host)
{
    struct json *versions = json_object(arena);
    json_set_string(arena, versions, "kind", "APIVersions");
    json_append(json_ensure_array(arena, versions, "versions"), json_string(arena, "v1"));
    struct json *addresses = json_ensure_array(arena, versions, "serverAddressByClientCIDRs");
    if (!host)
        return versions;
    struct json *address = json_object(arena);
    json_set_string(arena, address, "clientCIDR", "0.0.0.0/0");
    json_set_string(arena, address, "serverAddress", host);
    json_append(addresses, address);
    return versions;
}

static struct json *group_list(struct arena *arena, const struct registry *registry)
{
    struct json *list = make_typed_object(arena, "APIGroupList", "v1");
    struct json *groups = json_ensure_array(arena, list, "groups");
    const char **names = registry_groups(registry, arena);
    for (size_t i = 0; names[i]; i++) {
        struct json *entry = json_object(arena);
        fill_group(arena, registry, entry, names[i]);
        json_append(groups, entry);
    }
    return list;
}

static struct json *version_info(struct arena *arena, const char *program_version)
{
    struct json *info = json_object(arena);
    json_set_string(arena, info, "major", KUBERNETES_MAJOR);
    json_set_string(arena, info, "minor", KUBERNETES_MINOR);
    json_set(arena, info, "gitVersion",
             json_stringf(arena, "v%s.%s.0+trainyard-%s", KUBERNETES_MAJOR, KUBERNETES_MINOR,
                          program_version));
    json_set_string(arena, info, "gitCommit", "");
    json_set_string(arena, info, "gitTreeState", "clean");
    json_set_string(arena, info, "buildDate", "");
    json_set_string(arena, info, "goVersion", "");
    json_set_string(arena, info, "compiler", "");
    json_set_string(arena, info, "platform", "linux");
    return info;
}

/* Makes the response to /apis/GROUP or /apis/GROUP/VERSION. Returns NULL if the group or version is
 * not served. */
static struct json *group_path(struct arena *arena, const struct registry *registry,
                               const char *path)
{
    size_t count;
    char **pieces = str_split(arena, path, '/', &count);
    if (count == 2 && pieces[0][0] && registry_has_group_version(registry, pieces[0], pieces[1]))
        return resource_list(arena, registry, pieces[0], pieces[1]);
    if (count != 1 || !pieces[0][0] || !registry_versions(registry, arena, pieces[0])[0])
        return NULL;
    struct json *entry = make_typed_object(arena, "APIGroup", "v1");
    fill_group(arena, registry, entry, pieces[0]);
    return entry;
}

static void add_path(struct arena *arena, struct json *paths, const char *path)
{
    json_append(paths, json_string(arena, path));
}

/* Makes the response to "/": a list of paths, without the paths of resources. */
static struct json *make_root(struct arena *arena, const struct registry *registry)
{
    struct json *json = json_object(arena), *paths = json_ensure_array(arena, json, "paths");
    add_path(arena, paths, "/api");
    add_path(arena, paths, "/api/v1");
    add_path(arena, paths, "/apis");
    const char **groups = registry_groups(registry, arena);
    for (size_t i = 0; groups[i]; i++) {
        const char **versions = registry_versions(registry, arena, groups[i]);
        add_path(arena, paths, arena_printf(arena, "/apis/%s", groups[i]));
        for (size_t j = 0; versions[j]; j++)
            add_path(arena, paths, arena_printf(arena, "/apis/%s/%s", groups[i], versions[j]));
    }
    for (size_t i = 0; HEALTH_PATHS[i]; i++)
        add_path(arena, paths, HEALTH_PATHS[i]);
    add_path(arena, paths, "/metrics");
    add_path(arena, paths, "/openapi/v2");
    add_path(arena, paths, "/openapi/v3");
    add_path(arena, paths, "/version");
    return json;
}

static struct json *make_document(struct arena *arena, const struct registry *registry,
                                  const struct http_request *request, const char *program_version)
{
    const char *path = request->path;
    if (str_eq(path, "/"))
        return make_root(arena, registry);
    if (str_eq(path, "/api"))
        return api_versions(arena, http_header_get(request->headers, "Host"));
    if (str_eq(path, "/api/v1"))
        return resource_list(arena, registry, "", "v1");
    if (str_eq(path, "/apis"))
        return group_list(arena, registry);
    if (str_has_prefix(path, "/apis/"))
        return group_path(arena, registry, path + strlen("/apis/"));
    if (str_eq(path, "/version"))
        return version_info(arena, program_version);
    return NULL;
}

/* Returns the version of aggregated discovery that a clause of the Accept header requests, or NULL
 * if it requests another form. */
static const char *aggregated_version(const struct accept_clause *clause)
{
    static const char *const versions[] = {"v2", "v2beta1"};
    if (!str_eq(clause->as, "APIGroupDiscoveryList") ||
        !str_eq(clause->group, "apidiscovery.k8s.io"))
        return NULL;
    for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
        if (str_eq(clause->version, versions[i]))
            return versions[i];
    return NULL;
}

/* Chooses the form that the client prefers. *ret_version is the version of aggregated discovery, or
 * NULL for plain JSON. Returns false if the client accepts none of the forms. */
static bool choose_form(const struct accept *accept, bool has_aggregated, const char **ret_version)
{
    for (size_t i = 0; i < accept->count; i++) {
        const struct accept_clause *clause = &accept->clauses[i];
        if (!accept_clause_matches(clause, "application/json"))
            continue;
        *ret_version = has_aggregated ? aggregated_version(clause) : NULL;
        if (*ret_version || clause->as[0] == '\0')
            return true;
    }
    return false;
}

static void respond_document(struct http_exchange *exchange, const struct registry *registry,
                             const struct json *json)
{
    struct arena *arena = exchange->arena;
    const char *path = exchange->request->path, *version, *type = "application/json";
    bool is_core = str_eq(path, "/api");
    struct accept accept;
    accept_parse(arena, http_header_get(exchange->request->headers, "Accept"), &accept);
    if (!choose_form(&accept, is_core || str_eq(path, "/apis"), &version)) {
        cached_document_refuse(exchange, type);
        return;
    }
    if (version) {
        json = discovery_aggregate(arena, registry, version, is_core);
        type = arena_printf(arena, "%s;g=apidiscovery.k8s.io;v=%s;as=APIGroupDiscoveryList", type,
                            version);
    }
    const char *text = json_to_string(arena, json);
    cached_document_respond(exchange, type, NULL, text, strlen(text));
}

bool discovery_handle(struct http_exchange *exchange, const struct registry *registry,
                      const char *program_version)
{
    if (!str_eq(exchange->request->method, "GET"))
        return false;
    if (openapi_handle(exchange, registry, program_version))
        return true;
    const struct json *json =
        make_document(exchange->arena, registry, exchange->request, program_version);
    if (json)
        respond_document(exchange, registry, json);
    return json != NULL;
}
