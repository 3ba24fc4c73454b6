/* Makes the apiVersion, path and text of a resource; see resource.h. */
#include "kube/resource.h"

#include "base/str.h"

char *kube_resource_api_version(struct arena *arena, const struct kube_resource *resource)
{
    if (*resource->group == '\0')
        return arena_strdup(arena, resource->version);
    return arena_printf(arena, "%s/%s", resource->group, resource->version);
}

char *kube_resource_path(struct arena *arena, const struct kube_resource *resource,
                         const char *namespace_, const char *name, const char *subresource)
{
    bool core = *resource->group == '\0';
    bool inside = resource->namespaced && !str_is_empty(namespace_);
    return arena_printf(arena, "/%s%s/%s%s%s/%s%s%s%s%s", core ? "api" : "apis/", resource->group,
                        resource->version, inside ? "/namespaces/" : "", inside ? namespace_ : "",
                        resource->plural, name ? "/" : "", name ? name : "",
                        name && subresource ? "/" : "", name && subresource ? subresource : "");
}

char *kube_resource_text(struct arena *arena, const struct kube_resource *resource)
{
    return arena_printf(arena, "%s%s%s", resource->plural, *resource->group ? "." : "",
                        resource->group);
}
