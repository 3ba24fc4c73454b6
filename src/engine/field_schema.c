/* Looking for fields that are unknown or have no effect; see field_schema.h. */
#include "engine/field_schema.h"

#include "base/str.h"

enum { NAMES_MAX = 64 }; /* of one level, for the guess */

struct search {
    struct arena *arena;
    struct field_report *report;
};

static const struct field_schema *find(const struct field_schema *schema, const char *name)
{
    for (; schema->name; schema++)
        if (str_eq(schema->name, "*") || str_eq(schema->name, name))
            return schema;
    return NULL;
}

static void complain(struct field_complaints *complaints, const char *text)
{
    if (complaints->count < FIELD_SCHEMA_REPORT_MAX)
        complaints->texts[complaints->count++] = text;
}

static const char *unknown_text(struct search *search, const struct field_schema *schema,
                                const char *path, const char *name)
{
    const char *names[NAMES_MAX];
    size_t count = 0;
    for (; schema->name && count < NAMES_MAX; schema++)
        names[count++] = schema->name;
    const char *meant = str_nearest(name, names, count);
    return meant ? arena_printf(search->arena, "unknown field \"%s%.100s\", did you mean \"%s\"?",
                                path, name, meant)
                 : arena_printf(search->arena, "unknown field \"%s%.100s\"", path, name);
}

static bool asks_for_nothing(const struct json *value)
{
    switch (value->type) {
    case JSON_NULL:
        return true;
    case JSON_BOOL:
        return !value->boolean;
    case JSON_STRING:
        return value->size == 0;
    case JSON_ARRAY:
    case JSON_OBJECT:
        return json_count(value) == 0;
    default:
        return false;
    }
}

/* `path` is "" or ends with a dot. The depth is that of the tables. */
static void walk(struct search *search, const struct field_schema *schema,
                 const struct json *object, const char *path)
{
    JSON_EACH (member, object) {
        const struct field_schema *known = find(schema, member->name);
        if (!known) {
            complain(&search->report->unknown, unknown_text(search, schema, path, member->name));
            continue;
        }
        if (known->unsupported && !asks_for_nothing(member))
            complain(&search->report->unsupported,
                     arena_printf(search->arena, "%s%s: not supported here: %s", path, member->name,
                                  known->unsupported));
        if (!known->below)
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

void field_schema_check(struct arena *arena, const struct field_schema *schema,
                        const struct json *object, struct field_report *ret)
{
    *ret = (struct field_report){0};
    walk(&(struct search){.arena = arena, .report = ret}, schema, object, "");
}
