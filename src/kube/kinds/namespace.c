/* Namespaces: born active, and with the finalizer that lets their content go first. */
#include "engine/kinds/kinds.h"

#include "kube/object.h"

/* Selectors find a namespace by name through this label. */
void kind_namespace_defaults(struct arena *arena, struct json *namespace_)
{
    kube_meta_set_label(arena, namespace_, "kubernetes.io/metadata.name",
                        kube_meta_name(namespace_));
}

void kind_namespace_create(struct arena *arena, struct json *namespace_)
{
    struct json *finalizers = json_array(arena);
    json_append(finalizers, json_string(arena, "kubernetes"));
    json_set(arena, json_ensure_object(arena, namespace_, "spec"), "finalizers", finalizers);
    struct json *status = json_object(arena);
    json_set_string(arena, status, "phase", "Active");
    json_set(arena, namespace_, "status", status);
}
