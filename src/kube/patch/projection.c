/* Copies selected fields; see projection.h. */
#include "kube/patch/projection.h"

#include "base/json/json_list.h"

#include <string.h>

enum { FIELDS_MAX = 64 }; /* paths; more are ignored */

/* Returns true if one of the paths is `name` itself, so that the whole member is copied. Otherwise
 * sets ret_below to the paths below `name`: "labels" for the path "metadata.labels" and the name
 * "metadata". */
static bool pick_descend(const char *const *fields, const char *name, const char **ret_below)
{
    size_t length = strlen(name), count = 0;

    for (; *fields && count < FIELDS_MAX; fields++) {
        if ((*fields)[0] != name[0] || strncmp(*fields, name, length) != 0)
            continue;
        if ((*fields)[length] == '\0')
            return true;
        if ((*fields)[length] == '.')
            ret_below[count++] = *fields + length + 1;
    }
    ret_below[count] = NULL;
    return false;
}

struct json *kube_project_fields(struct arena *arena, const struct json *object,
                                 const char *const *fields)
{
    struct json *picked;

    if (object->type == JSON_ARRAY) {
        picked = json_array(arena);
        JSON_EACH (element, object)
            json_append(picked, kube_project_fields(arena, element, fields));
        return picked;
    }
    if (object->type != JSON_OBJECT)
        return json_clone(arena, object);
    picked = json_object(arena);
    JSON_EACH (member, object) {
        const char *below[FIELDS_MAX + 1];
        struct json *value = NULL;

        if (pick_descend(fields, member->name, below))
            value = json_clone(arena, member);
        else if (below[0])
            value = kube_project_fields(arena, member, below);
        if (!value)
            continue;
        value->name = arena_strdup(arena, member->name);
        json_list_append(picked, value);
    }
    return picked;
}
