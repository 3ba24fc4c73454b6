/* For tests over all kinds: which there are, their paths, and one custom kind that keeps every
 * field. */
#ifndef TRAINYARD_TESTS_ENGINE_EVERY_KIND_H
#define TRAINYARD_TESTS_ENGINE_EVERY_KIND_H

#include "api.h"
#include "engine/kinds/registry.h"

#define DEEPS       "/apis/x.io/v1/namespaces/default/deeps"
#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

static const char DEEP_DEFINITION[] =
    "{\"metadata\":{\"name\":\"deeps.x.io\"},\"spec\":{\"group\":\"x.io\",\"scope\":\"Namespaced\","
    "\"names\":{\"plural\":\"deeps\",\"kind\":\"Deep\"},\"versions\":[{\"name\":\"v1\","
    "\"served\":true,\"storage\":true,\"subresources\":{\"status\":{}},"
    "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","
    "\"x-kubernetes-preserve-unknown-fields\":true}}}]}}";

/* The kinds built in that are stored; position from 0, NULL at the end. */
static inline const struct registry_resource *every_kind_at(size_t position)
{
    const struct registry_resource *resource;
    for (size_t i = 0; (resource = registry_built_in_at(i)); i++)
        if (!resource->transient && position-- == 0)
            return resource;
    return NULL;
}

/* "/api/v1/namespaces/default/pods" */
static inline const char *kind_path(struct arena *arena, const struct registry_resource *resource)
{
    const struct kube_resource *id = &resource->id;
    return arena_printf(arena, "/%s%s/%s%s/%s", id->group[0] ? "apis/" : "api", id->group,
                        id->version, id->namespaced ? "/namespaces/default" : "", id->plural);
}

#endif
