/* The merge keys of the built-in types, from the patchStrategy and patchMergeKey tags that the
 * Kubernetes API documents for each field; see patch_schema.h. */
#include "kube/patch_schema.h"

#include "base/mem.h"
#include "base/str.h"

#define TYPE(name, ...)                                                                            \
    static const struct patch_field name##_FIELDS[] = {__VA_ARGS__, {0}};                          \
    static const struct patch_type name = {name##_FIELDS}

#define OBJECT(field, type)                                                                        \
    {                                                                                              \
        field, &(type), false, NULL                                                                \
    }
#define LIST(field, key, type)                                                                     \
    {                                                                                              \
        field, &(type), true, key                                                                  \
    }
#define VALUES(field)                                                                              \
    {                                                                                              \
        field, &PLAIN, true, NULL                                                                  \
    }

static const struct patch_type PLAIN = {(const struct patch_field[]){{0}}};

TYPE(META, LIST("ownerReferences", "uid", PLAIN), VALUES("finalizers"));

TYPE(CONTAINER, LIST("env", "name", PLAIN), LIST("ports", "containerPort", PLAIN),
     LIST("volumeMounts", "mountPath", PLAIN), LIST("volumeDevices", "devicePath", PLAIN));

TYPE(POD_SPEC, LIST("containers", "name", CONTAINER), LIST("initContainers", "name", CONTAINER),
     LIST("ephemeralContainers", "name", CONTAINER), LIST("volumes", "name", PLAIN),
     LIST("imagePullSecrets", "name", PLAIN), LIST("hostAliases", "ip", PLAIN),
     LIST("topologySpreadConstraints", "topologyKey", PLAIN),
     LIST("schedulingGates", "name", PLAIN), LIST("resourceClaims", "name", PLAIN));

TYPE(POD_STATUS, LIST("conditions", "type", PLAIN), LIST("podIPs", "ip", PLAIN),
     LIST("hostIPs", "ip", PLAIN), LIST("resourceClaimStatuses", "name", PLAIN));
TYPE(POD, OBJECT("metadata", META), OBJECT("spec", POD_SPEC), OBJECT("status", POD_STATUS));
TYPE(POD_TEMPLATE, OBJECT("metadata", META), OBJECT("spec", POD_SPEC));

TYPE(CONDITIONS, LIST("conditions", "type", PLAIN));

TYPE(SERVICE_SPEC, LIST("ports", "port", PLAIN));
TYPE(SERVICE, OBJECT("metadata", META), OBJECT("spec", SERVICE_SPEC), OBJECT("status", CONDITIONS));

TYPE(NODE_SPEC, VALUES("podCIDRs"));
TYPE(NODE_STATUS, LIST("conditions", "type", PLAIN), LIST("addresses", "type", PLAIN));
TYPE(NODE, OBJECT("metadata", META), OBJECT("spec", NODE_SPEC), OBJECT("status", NODE_STATUS));

TYPE(SERVICE_ACCOUNT, OBJECT("metadata", META), LIST("secrets", "name", PLAIN));

/* Deployment, ReplicaSet, StatefulSet, DaemonSet and Job: a pod template inside, conditions out. */
TYPE(WORKLOAD_SPEC, OBJECT("template", POD_TEMPLATE));
TYPE(WORKLOAD, OBJECT("metadata", META), OBJECT("spec", WORKLOAD_SPEC),
     OBJECT("status", CONDITIONS));

/* Every other built-in: its metadata and, where it has them, conditions. */
TYPE(OTHER, OBJECT("metadata", META), OBJECT("status", CONDITIONS));

static const struct {
    const char *group, *kind;
    const struct patch_type *type;
} TYPES[] = {
    {"", "Pod", &POD},
    {"", "PodTemplate", &WORKLOAD_SPEC},
    {"", "ReplicationController", &WORKLOAD},
    {"", "Service", &SERVICE},
    {"", "Node", &NODE},
    {"", "ServiceAccount", &SERVICE_ACCOUNT},
    {"apps", "Deployment", &WORKLOAD},
    {"apps", "ReplicaSet", &WORKLOAD},
    {"apps", "StatefulSet", &WORKLOAD},
    {"apps", "DaemonSet", &WORKLOAD},
    {"batch", "Job", &WORKLOAD},
};

/* Built-in groups have no dot, or end in .k8s.io; a custom resource's group is a name somebody
 * owns. */
static bool is_builtin_group(const char *group)
{
    for (const char *c = group; *c; c++)
        if (*c == '.')
            return str_has_suffix(group, ".k8s.io");
    return true;
}

const struct patch_type *patch_type_of(const struct kube_resource *resource)
{
    for (size_t i = 0; i < ARRAY_SIZE(TYPES); i++)
        if (str_eq(TYPES[i].group, resource->group) && str_eq(TYPES[i].kind, resource->kind))
            return TYPES[i].type;
    return is_builtin_group(resource->group) ? &OTHER : NULL;
}

const struct patch_field *patch_field_of(const struct patch_type *type, const char *name)
{
    static const struct patch_field unlisted = {.name = "", .type = &PLAIN};
    for (const struct patch_field *field = type->fields; field->name; field++)
        if (str_eq(field->name, name))
            return field;
    return &unlisted;
}
