/* For tests over all kinds: the list of kinds, their paths, and one custom kind that keeps every
 * field. */
#ifndef TRAINYARD_TESTS_UNIT_ENGINE_EVERY_KIND_H
#define TRAINYARD_TESTS_UNIT_ENGINE_EVERY_KIND_H

#include "api.h"
#include "engine/crd/definition.h"
#include "engine/kinds/registry.h"
#include "served_kinds.h"

#define DEEPS       "/apis/x.io/v1/namespaces/default/deeps"
#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

static const char DEEP_DEFINITION[] =
    "{\"metadata\":{\"name\":\"deeps.x.io\"},\"spec\":{\"group\":\"x.io\",\"scope\":\"Namespaced\","
    "\"names\":{\"plural\":\"deeps\",\"kind\":\"Deep\"},\"versions\":[{\"name\":\"v1\","
    "\"served\":true,\"storage\":true,\"subresources\":{\"status\":{}},"
    "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","
    "\"x-kubernetes-preserve-unknown-fields\":true}}}]}}";

/* Returns the built-in kind at this position, from 0, or NULL after the last. */
static inline const struct kube_kind *every_built_in_at(size_t position)
{
    const struct kube_kind *kind;
    size_t count = 0;
    for (; (kind = kube_kind_at(count)); count++)
        if (count == position)
            return kind;
    if (position == count)
        return &DEFINITION_KIND;
    for (size_t i = 0; SERVED_KINDS[i]; i++)
        if (position == count + 1 + i)
            return SERVED_KINDS[i];
    return NULL;
}

/* Returns the built-in kind that is stored at this position, from 0, or NULL after the last. */
static inline const struct kube_kind *every_kind_at(size_t position)
{
    const struct kube_kind *resource;
    for (size_t i = 0; (resource = every_built_in_at(i)); i++)
        if (!resource->transient && position-- == 0)
            return resource;
    return NULL;
}

/* Returns the path of the collection, such as "/api/v1/namespaces/default/pods". */
static inline const char *kind_path(struct arena *arena, const struct kube_kind *resource)
{
    const struct kube_resource *id = &resource->id;
    return arena_printf(arena, "/%s%s/%s%s/%s", id->group[0] ? "apis/" : "api", id->group,
                        id->version, id->namespaced ? "/namespaces/default" : "", id->plural);
}

#endif
