/* Makes aggregated discovery documents; see discovery_aggregated.h. */
#include "engine/openapi/discovery_aggregated.h"

#include "base/str.h"
#include "engine/kinds/registry.h"
#include "engine/openapi/discovery.h"
#include "engine/openapi/schema.h"

static struct json *write_sub(struct arena *arena, const struct kube_kind *resource,
                              const char *version, const struct kube_subresource *sub)
{
    struct json *entry = json_object(arena);
    json_set_string(arena, entry, "subresource", sub->name);
    json_set(arena, entry, "responseKind",
             openapi_group_version_kind(arena, sub->group ? sub->group : resource->id.group,
                                        sub->group ? sub->version : version, sub->kind));
    json_set(arena, entry, "verbs", discovery_verbs(arena, sub->verbs));
    return entry;
}

static struct json *write_resource(struct arena *arena, const struct kube_kind *resource,
                                   const char *version)
{
    const struct kube_resource *id = &resource->id;
    struct json *entry = json_object(arena);
    json_set_string(arena, entry, "resource", id->plural);
    json_set(arena, entry, "responseKind",
             openapi_group_version_kind(arena, id->group, version, id->kind));
    json_set_string(arena, entry, "scope", id->namespaced ? "Namespaced" : "Cluster");
    json_set_string(arena, entry, "singularResource", resource->singular);
    json_set(arena, entry, "verbs", discovery_verbs(arena, resource->verbs));
    if (resource->short_names)
        json_set(arena, entry, "shortNames", discovery_names(arena, resource->short_names));
    if (resource->categories)
        json_set(arena, entry, "categories", discovery_names(arena, resource->categories));
    const struct kube_subresource *sub = resource->subresources;
    for (; sub && sub->id != SUB_NONE; sub++)
        json_append(json_ensure_array(arena, entry, "subresources"),
                    write_sub(arena, resource, version, sub));
    return entry;
}

static struct json *write_version(struct arena *arena, const struct registry *registry,
                                  const char *group, const char *version)
{
    struct json *entry = json_object(arena);
    json_set_string(arena, entry, "version", version);
    struct json *resources = json_ensure_array(arena, entry, "resources");
    const struct kube_kind *resource;
    for (size_t i = 0; (resource = registry_at(registry, i)); i++)
        if (str_eq(resource->id.group, group) && kube_kind_serves_version(resource, version))
            json_append(resources, write_resource(arena, resource, version));
    json_set_string(arena, entry, "freshness", "Current");
    return entry;
}

static struct json *write_group(struct arena *arena, const struct registry *registry,
                                const char *group)
{
    struct json *entry = json_object(arena);
    json_set_string(arena, json_ensure_object(arena, entry, "metadata"), "name", group);
    struct json *versions = json_ensure_array(arena, entry, "versions");
    const char **list = registry_versions(registry, arena, group);
    for (size_t i = 0; list[i]; i++)
        json_append(versions, write_version(arena, registry, group, list[i]));
    return entry;
}

struct json *discovery_aggregate(struct arena *arena, const struct registry *registry,
                                 const char *version, bool core)
{
    static const char *core_only[] = {"", NULL};
    struct json *list = json_object(arena);
    json_set_string(arena, list, "kind", "APIGroupDiscoveryList");
    json_set(arena, list, "apiVersion", json_stringf(arena, "apidiscovery.k8s.io/%s", version));
    json_ensure_object(arena, list, "metadata");
    struct json *items = json_ensure_array(arena, list, "items");
    const char **groups = core ? core_only : registry_groups(registry, arena);
    for (size_t i = 0; groups[i]; i++)
        json_append(items, write_group(arena, registry, groups[i]));
    return list;
}
