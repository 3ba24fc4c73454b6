/* The list of messages (struct type_kind); see types.h. */
#include "kube/types/types.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

static const struct type_kind MESSAGES[] = {
    {"", "v1", "Binding", &TYPE_BINDING},
    {"", "v1", "DeleteOptions", &TYPE_DELETE_OPTIONS},
    {"authentication.k8s.io", "v1", "TokenRequest", &TYPE_TOKEN_REQUEST},
    {"autoscaling", "v1", "Scale", &TYPE_SCALE},
    {"meta.k8s.io", "v1", "DeleteOptions", &TYPE_DELETE_OPTIONS},
    {"policy", "v1", "Eviction", &TYPE_EVICTION},
};

const struct type_kind *types_message_at(size_t position)
{
    return position < ARRAY_SIZE(MESSAGES) ? &MESSAGES[position] : NULL;
}

const struct schema_object *types_find_message(const char *api_version, const char *kind)
{
    const char *slash = strchr(api_version, '/');
    size_t group_size = slash ? (size_t)(slash - api_version) : 0;
    const char *version = slash ? slash + 1 : api_version;
    for (size_t i = 0; i < ARRAY_SIZE(MESSAGES); i++) {
        const struct type_kind *known = &MESSAGES[i];
        if (str_eq(known->kind, kind) && str_eq(known->version, version) &&
            strlen(known->group) == group_size &&
            memcmp(known->group, api_version, group_size) == 0)
            return known->object;
    }
    return NULL;
}
