/* Finds and removes duplicate names; see json_duplicates.h. */
#include "kube/schema/json_duplicates.h"

#include "base/buf.h"
#include "base/json/json_list.h"
#include "base/json/json_names.h"
#include "base/str.h"

#include <string.h>

enum { PATH_SIZE_MAX = 1024 };

struct walk {
    struct arena *arena;
    struct schema_messages *duplicates; /* NULL: no messages are added */
};

/* The path to a value, as a linked list up to the root. It is formatted only for a message. */
struct place {
    const struct place *above;
    const char *name; /* NULL: an element of a list */
    size_t position;  /* the position of an element */
};

static void write_path(const struct place *place, struct buf *buf)
{
    if (!place)
        return;
    write_path(place->above, buf);
    if (place->name)
        buf_printf(buf, "%s%s", buf->size ? "." : "", place->name);
    else
        buf_printf(buf, "[%zu]", place->position);
}

static void duplicates_add_message(struct schema_messages *duplicates, const char *text)
{
    for (size_t i = 0; i < duplicates->count; i++)
        if (str_eq(duplicates->texts[i], text))
            return;
    if (duplicates->count < SCHEMA_MESSAGES_MAX)
        duplicates->texts[duplicates->count++] = text;
}

static void report_duplicate(const struct walk *walk, const struct place *place)
{
    if (!walk->duplicates || walk->duplicates->count == SCHEMA_MESSAGES_MAX)
        return;
    _cleanup_buf_ struct buf path;
    buf_init(&path, PATH_SIZE_MAX);
    write_path(place, &path);
    duplicates_add_message(walk->duplicates,
                           arena_printf(walk->arena, "duplicate field \"%.*s\"", (int)path.size,
                                        path.size ? path.data : ""));
}

/* Returns the members in reverse order. */
static struct json *members_reverse(struct json *member)
{
    struct json *reversed = NULL, *next;
    for (; member; member = next) {
        next = member->next;
        member->next = reversed;
        reversed = member;
    }
    return reversed;
}

static void walk_value(const struct walk *walk, struct json *value, const struct place *place);

/* Visits the members in reverse order and keeps the first member of each name that it meets. So the
 * last value in the text stays. */
static void walk_object(const struct walk *walk, struct json *object, const struct place *place)
{
    _cleanup_(json_names_release) struct json_names names = {0};
    struct json *next, *member = members_reverse(object->first), *last = NULL;
    object->first = object->last = NULL;
    object->count = 0;
    for (; member; member = next) {
        const struct place below = {.above = place, .name = member->name};
        next = member->next;
        walk_value(walk, member, &below);
        if (json_names_add(&names, object, member, strlen(member->name)))
            json_list_append(object, member);
        else
            report_duplicate(walk, &below);
    }
    last = object->first;
    object->first = members_reverse(object->first);
    object->last = last;
}

static void walk_value(const struct walk *walk, struct json *value, const struct place *place)
{
    struct place below = {.above = place};
    if (value->type == JSON_OBJECT)
        walk_object(walk, value, place);
    if (value->type != JSON_ARRAY)
        return;
    for (struct json *item = value->first; item; item = item->next, below.position++)
        walk_value(walk, item, &below);
}

int kube_json_duplicates_parse(struct arena *arena, const char *text, size_t size,
                               struct json **ret, struct schema_messages *ret_duplicates,
                               struct err *err)
{
    static const struct json_limits limits = {.repeats = true};
    const struct walk walk = {arena, ret_duplicates};
    int result = json_parse(arena, text, size, &limits, ret, err);
    if (result == 0)
        walk_value(&walk, *ret, NULL);
    return result;
}

/* ---- YAML ------------------------------------------------------------------------------------ */

static void report_line(const struct walk *walk, const struct json *value)
{
    if (walk->duplicates->count == SCHEMA_MESSAGES_MAX)
        return;
    const char *name = json_to_string(walk->arena, json_string(walk->arena, value->name));
    duplicates_add_message(walk->duplicates,
                           arena_printf(walk->arena, "line %u: key %.*s already set in map",
                                        value->line, PATH_SIZE_MAX, name));
}

/* Reports duplicates in the order of the text. As in Go, reports the duplicates inside a value
 * before the value itself. Does not remove members. */
static void report_lines(const struct walk *walk, struct json *value)
{
    _cleanup_(json_names_release) struct json_names names = {0};
    if (value->type == JSON_ARRAY)
        JSON_EACH (item, value)
            report_lines(walk, item);
    if (value->type != JSON_OBJECT)
        return;
    struct json *next, *member = value->first;
    value->first = value->last = NULL;
    value->count = 0;
    for (; member; member = next) {
        next = member->next;
        report_lines(walk, member);
        if (!json_names_add(&names, value, member, strlen(member->name)))
            report_line(walk, member);
        json_list_append(value, member);
    }
}

void kube_yaml_duplicates_remove(struct arena *arena, struct json *tree,
                                 struct schema_messages *ret_duplicates)
{
    report_lines(&(struct walk){arena, ret_duplicates}, tree);
    walk_value(&(struct walk){arena, NULL}, tree, NULL);
}
