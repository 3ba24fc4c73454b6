/* Sets defaults: a member that is missing, null or "" gets the value; any other member keeps its
 * value. */
#ifndef TRAINYARD_KUBE_KINDS_DEFAULTS_H
#define TRAINYARD_KUBE_KINDS_DEFAULTS_H

#include "base/json/json.h"

static inline bool default_is_missing(const struct json *object, const char *name)
{
    const struct json *value = json_get(object, name);
    return !value || value->type == JSON_NULL || (value->type == JSON_STRING && value->size == 0);
}

static inline void default_string(struct arena *arena, struct json *object, const char *name,
                                  const char *value)
{
    if (default_is_missing(object, name))
        json_set_string(arena, object, name, value);
}

static inline void default_int(struct arena *arena, struct json *object, const char *name,
                               int64_t value)
{
    if (default_is_missing(object, name))
        json_set_int(arena, object, name, value);
}

static inline void default_bool(struct arena *arena, struct json *object, const char *name,
                                bool value)
{
    if (default_is_missing(object, name))
        json_set_bool(arena, object, name, value);
}

#endif
