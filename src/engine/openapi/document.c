/* Makes whole OpenAPI documents; see document.h. */
#include "engine/openapi/document.h"

#include "base/str.h"
#include "engine/openapi/paths.h"
#include "engine/openapi/schema.h"

static void write_info(struct arena *arena, struct json *document, const char *program_version)
{
    struct json *info = json_ensure_object(arena, document, "info");
    json_set_string(arena, info, "title", "Trainyard");
    json_set_string(arena, info, "version", program_version);
}

/* Writes one version of a resource, or all versions if `version` is NULL. Defines the type of an
 * older version even if no path refers to it, because clients look types up by kind. */
static void write_versions(struct openapi_types *types, const struct kube_kind *resource,
                           const char *version, struct json *paths)
{
    if (!version || str_eq(version, resource->id.version))
        openapi_write_paths(types, resource, resource->id.version, paths);
    for (const struct kube_older_version *older = resource->older; older && older->version;
         older++) {
        if (version && !str_eq(version, older->version))
            continue;
        openapi_write_paths(types, resource, older->version, paths);
        if (older->schema)
            openapi_refer(types, older->schema);
    }
}

struct json *openapi_document_v2(struct arena *arena, const struct registry *registry,
                                 const char *program_version)
{
    struct openapi_types types;
    openapi_types_init(&types, arena, registry, OPENAPI_V2);
    struct json *document = json_object(arena);
    json_set_string(arena, document, "swagger", "2.0");
    write_info(arena, document, program_version);
    struct json *paths = json_ensure_object(arena, document, "paths");
    const struct kube_kind *resource;
    for (size_t i = 0; (resource = registry_at(registry, i)); i++)
        write_versions(&types, resource, NULL, paths);
    json_set(arena, document, "definitions", types.definitions);
    openapi_types_release(&types);
    return document;
}

struct json *openapi_document_v3(struct arena *arena, const struct registry *registry,
                                 const char *program_version, const char *group,
                                 const char *version)
{
    struct openapi_types types;
    openapi_types_init(&types, arena, registry, OPENAPI_V3);
    struct json *document = json_object(arena);
    json_set_string(arena, document, "openapi", "3.0.0");
    write_info(arena, document, program_version);
    struct json *paths = json_ensure_object(arena, document, "paths");
    const struct kube_kind *resource;
    for (size_t i = 0; (resource = registry_at(registry, i)); i++)
        if (str_eq(resource->id.group, group) && kube_kind_serves_version(resource, version))
            write_versions(&types, resource, version, paths);
    json_set(arena, json_ensure_object(arena, document, "components"), "schemas",
             types.definitions);
    openapi_types_release(&types);
    return document;
}
