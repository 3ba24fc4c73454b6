/* Writes the paths of an OpenAPI document; see paths.h. */
#include "engine/openapi/paths.h"

#include "engine/openapi/operations.h"

#include <string.h>

enum { COLLECTION = VERB_LIST | VERB_CREATE | VERB_DELETE_COLLECTION };

/* Writes one path with an operation per verb. Watch has no operation of its own: it is a parameter
 * of list. */
static void write_path(struct openapi_types *types, struct json *paths, const char *path,
                       struct openapi_operation operation, unsigned verbs)
{
    struct arena *arena = types->arena;
    struct json *item = json_object(arena);
    for (unsigned verb = 1; verb <= VERB_LAST; verb <<= 1) {
        operation.verb = (enum kube_verb)verb;
        const char *method = verbs & verb ? openapi_method(operation.verb) : NULL;
        if (method)
            json_set(arena, item, method, openapi_write_operation(types, &operation));
    }
    if (item->count == 0)
        return;
    struct json *parameters = json_array(arena);
    if (strstr(path, "{name}"))
        json_append(parameters, openapi_path_parameter(types, "name", "the name of the object"));
    if (strstr(path, "{namespace}"))
        json_append(parameters,
                    openapi_path_parameter(types, "namespace", "the namespace of the object"));
    if (parameters->count > 0)
        json_set(arena, item, "parameters", parameters);
    json_set(arena, paths, path, item);
}

void openapi_write_paths(struct openapi_types *types, const struct kube_kind *resource,
                         const char *version, struct json *paths)
{
    struct arena *arena = types->arena;
    struct kube_resource id = resource->id;
    id.version = version;
    const char *namespace_ = id.namespaced ? "{namespace}" : NULL;
    struct openapi_operation operation = {.resource = resource, .version = version};

    write_path(types, paths, kube_resource_path(arena, &id, namespace_, NULL, NULL), operation,
               resource->verbs & COLLECTION);
    write_path(types, paths, kube_resource_path(arena, &id, namespace_, "{name}", NULL), operation,
               resource->verbs & ~(unsigned)COLLECTION);
    operation.everywhere = true;
    if (id.namespaced)
        write_path(types, paths, kube_resource_path(arena, &id, NULL, NULL, NULL), operation,
                   resource->verbs & VERB_LIST);
    operation.everywhere = false;
    const struct kube_subresource *sub = resource->subresources;
    for (; sub && sub->id != SUB_NONE; sub++) {
        operation.sub = sub;
        write_path(types, paths, kube_resource_path(arena, &id, namespace_, "{name}", sub->name),
                   operation, sub->verbs);
    }
}
