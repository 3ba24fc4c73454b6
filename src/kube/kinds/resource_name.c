/* Holds the table of known resources and checks names against it; see resource_name.h. */
#include "kube/kinds/resource_name.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/meta.h"

#include <string.h>

enum {
    CONTAINER = 1 << 0, /* a container may request the resource */
    QUOTA = 1 << 1,     /* a quota may count it */
    INTEGER = 1 << 2,   /* its amounts are integers */
    POD = 1 << 3,       /* a quota whose scope selects pods can count it */
};

static const struct {
    const char *name;
    unsigned flags;
} NAMES[] = {
    {"configmaps", QUOTA | INTEGER},
    {"cpu", CONTAINER | QUOTA | POD},
    {"ephemeral-storage", CONTAINER | QUOTA},
    {"limits.cpu", QUOTA | POD},
    {"limits.ephemeral-storage", QUOTA},
    {"limits.memory", QUOTA | POD},
    {"memory", CONTAINER | QUOTA | POD},
    {"persistentvolumeclaims", QUOTA | INTEGER},
    {"pods", QUOTA | INTEGER | POD},
    {"replicationcontrollers", QUOTA | INTEGER},
    {"requests.cpu", QUOTA | POD},
    {"requests.ephemeral-storage", QUOTA},
    {"requests.memory", QUOTA | POD},
    {"requests.storage", QUOTA},
    {"resourcequotas", QUOTA | INTEGER},
    {"secrets", QUOTA | INTEGER},
    {"services", QUOTA | INTEGER},
    {"services.loadbalancers", QUOTA | INTEGER},
    {"services.nodeports", QUOTA | INTEGER},
    {"storage", 0},
};

/* Returns the flags of the name, or -1 if it is unknown. All page sizes of hugepages are known. */
static int flags_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++)
        if (str_eq(name, NAMES[i].name))
            return (int)NAMES[i].flags;
    if (str_has_prefix(name, "hugepages-"))
        return CONTAINER | QUOTA;
    return str_has_prefix(name, "requests.hugepages-") ? QUOTA : -1;
}

void resource_name_validate(struct field_errors *errors, enum resource_use use, const char *name,
                            const char *field)
{
    const struct json *value = json_string(errors->arena, name);
    size_t before = errors->count;
    int flags = flags_of(name);
    meta_validate_label_name(errors, name, field);
    if (strchr(name, '/'))
        return;
    if (flags < 0 && errors->count == before)
        field_invalid(errors, field, value, "must be a standard resource type or fully qualified");
    if (use == RESOURCE_CONTAINER && (flags < 0 || !(flags & CONTAINER)))
        field_invalid(errors, field, value, "must be a standard resource for containers");
    if (use == RESOURCE_QUOTA && (flags < 0 || !(flags & QUOTA)))
        field_invalid(errors, field, value, "must be a standard resource for quota");
}

bool resource_name_is_integer(const char *name)
{
    int flags = flags_of(name);
    /* Amounts of extended resources, such as those of device plugins, are integers. */
    return flags >= 0 ? flags & INTEGER
                      : strchr(name, '/') && !strstr(name, "kubernetes.io/") &&
                            !str_has_prefix(name, "requests.");
}

bool resource_name_is_of_pods(const char *name, bool best_effort)
{
    int flags = flags_of(name);
    return flags < 0 || (best_effort ? str_eq(name, "pods") : flags & POD);
}
