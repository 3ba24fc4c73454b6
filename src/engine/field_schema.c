/* Looking for unknown fields; see field_schema.h. */
#include "engine/field_schema.h"

#include "base/str.h"

enum { NAMES_MAX = 64 }; /* of one level, for the guess */

struct search {
    struct arena *arena;
    const char **complaints;
    size_t count;
};

static const struct field_schema *find(const struct field_schema *schema, const char *name)
{
    for (; schema->name; schema++)
        if (str_eq(schema->name, "*") || str_eq(schema->name, name))
            return schema;
    return NULL;
}

static void complain(struct search *search, const struct field_schema *schema, const char *path,
                     const char *name)
{
    const char *names[NAMES_MAX];
    size_t count = 0;
    if (search->count == FIELD_SCHEMA_REPORT_MAX)
        return;
    for (; schema->name && count < NAMES_MAX; schema++)
        names[count++] = schema->name;
    const char *meant = str_nearest(name, names, count);
    search->complaints[search->count++] =
        meant ? arena_printf(search->arena, "unknown field \"%s%.100s\", did you mean \"%s\"?",
                             path, name, meant)
              : arena_printf(search->arena, "unknown field \"%s%.100s\"", path, name);
}

/* `path` is "" or ends with a dot. The depth is that of the tables. */
static void walk(struct search *search, const struct field_schema *schema,
                 const struct json *object, const char *path)
{
    JSON_EACH (member, object) {
        const struct field_schema *known = find(schema, member->name);
        if (!known) {
            complain(search, schema, path, member->name);
            continue;
        }
        if (!known->below || search->count == FIELD_SCHEMA_REPORT_MAX)
            continue;
        const char *here = arena_printf(search->arena, "%s%.100s", path, member->name);
        if (member->type == JSON_OBJECT)
            walk(search, known->below, member, arena_printf(search->arena, "%s.", here));
        size_t position = 0;
        if (member->type == JSON_ARRAY) {
            JSON_EACH (element, member) {
                if (element->type == JSON_OBJECT)
                    walk(search, known->below, element,
                         arena_printf(search->arena, "%s[%zu].", here, position));
                position++;
            }
        }
    }
}

size_t field_schema_unknown(struct arena *arena, const struct field_schema *schema,
                            const struct json *object,
                            const char *ret_complaints[FIELD_SCHEMA_REPORT_MAX])
{
    struct search search = {.arena = arena, .complaints = ret_complaints};
    walk(&search, schema, object, "");
    return search.count;
}
