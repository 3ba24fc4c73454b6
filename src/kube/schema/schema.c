/* Looks up fields in a schema; see schema.h. */
#include "kube/schema/schema.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static int compare_name(const void *name, const void *field)
{
    return strcmp(name, (*(const struct schema_field *const *)field)->name);
}

const struct schema_field *schema_field(const struct schema_object *object, const char *name)
{
    if (object->sorted) {
        const struct schema_field *const *found =
            bsearch(name, object->sorted, object->count, sizeof(*object->sorted), compare_name);
        return found ? *found : NULL;
    }
    for (const struct schema_field *field = object->fields; field->name; field++)
        if (field->name[0] == name[0] && str_eq(field->name, name))
            return field;
    return NULL;
}

bool schema_has_rules(const struct schema_object *object)
{
    return !object->name || object->checked;
}
