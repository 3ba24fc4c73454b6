/* Tests the allowed values of every table: a field accepts each of its values and no other,
 * wherever the field stands. */
#include "kube/schema/validate.h"

#include "base/str.h"
#include "kube/schema/path.h"
#include "kube/schema/rules.h"
#include "kube/types/types.h"
#include "operator/kind/training_types.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* The path to a field, and its type. */
struct way {
    const struct way *parent;
    const struct schema_object *type;
    const char *name; /* NULL: an element of a list */
};

struct visit {
    struct arena *arena;
    const struct schema_object *kind;
    size_t fields;
};

static bool is_on_path(const struct way *way, const struct schema_object *type)
{
    for (; way; way = way->parent)
        if (way->type == type)
            return true;
    return false;
}

/* Returns `value` at the end of the path, in otherwise empty objects and lists. */
static struct json *wrap(struct arena *arena, const struct way *way, struct json *value)
{
    for (; way; way = way->parent) {
        struct json *outer = way->name ? json_object(arena) : json_array(arena);
        if (way->name)
            json_set(arena, outer, way->name, value);
        else
            json_append(outer, value);
        value = outer;
    }
    return value;
}

static size_t count_errors(struct visit *visit, const struct way *way, const char *word)
{
    struct field_errors errors;
    field_errors_init(&errors, visit->arena);
    schema_validate_words(&errors, visit->kind,
                          wrap(visit->arena, way, json_string(visit->arena, word)));
    return errors.count;
}

static void check_type(struct visit *visit, const struct way *way, const struct schema *schema)
{
    if (schema->rules && schema->rules->words) {
        for (const char *const *word = schema->rules->words; *word; word++)
            assert_int_equal(count_errors(visit, way, *word), 0);
        assert_int_equal(count_errors(visit, way, "Nope"), 1);
        visit->fields++;
    }
    if (schema->type == SCHEMA_LIST || schema->type == SCHEMA_MAP) {
        const struct way into = {.parent = way, .name = schema->type == SCHEMA_MAP ? "key" : NULL};
        check_type(visit, &into, schema->items);
    }
    if (schema->type != SCHEMA_OBJECT || is_on_path(way, schema->object))
        return;
    for (const struct schema_field *field = schema->object->fields; field->name; field++) {
        const struct way into = {.parent = way, .type = schema->object, .name = field->name};
        if (way || !str_eq(field->name, "status"))
            check_type(visit, &into, &field->value);
    }
}

static void test_allowed_values(void **state)
{
    static const struct {
        const struct schema_object *kind;
        size_t least;
    } rows[] = {
        {&TYPE_POD, 20},    {&TYPE_JOB, 25}, {&TYPE_DEPLOYMENT, 20},       {&TYPE_REPLICA_SET, 20},
        {&TYPE_SERVICE, 5}, {&TYPE_NODE, 1}, {&TYPE_PERSISTENT_VOLUME, 2}, {&TFJOB_TYPE, 20},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct visit visit = {.arena = arena_new(), .kind = rows[i].kind};
        const struct schema schema = {.type = SCHEMA_OBJECT, .object = rows[i].kind};
        check_type(&visit, NULL, &schema);
        assert_true(visit.fields >= rows[i].least);
        arena_free(visit.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allowed_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
