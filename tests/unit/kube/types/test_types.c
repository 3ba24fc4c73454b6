/* Tests that the field tables are consistent: names and numbers are unique in a type, keys name
 * fields of their elements, defaults have their field's type, and each field has a description. */
#include "test_arena.h"

#include "base/json/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "kube/kinds/kinds.h"
#include "kube/schema/rules.h"
#include "kube/types/types.h"
#include "served_kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TYPES_MAX = 1000 };

struct visit {
    const struct schema_object *seen[TYPES_MAX];
    size_t count, fields;
};

static bool is_field_of(const struct schema *items, const char *name)
{
    return items->type == SCHEMA_OBJECT && schema_field(items->object, name);
}

static void check_list(const char *type, const struct schema_field *field)
{
    const struct schema *value = &field->value;
    for (size_t i = 0; value->keys && value->keys[i]; i++)
        if (!is_field_of(value->items, value->keys[i]))
            fail_msg("%s.%s: no key '%s'", type, field->name, value->keys[i]);
    if (value->keys && value->set)
        fail_msg("%s.%s: a set with keys", type, field->name);
    if (!str_is_empty(value->merge_key) && !is_field_of(value->items, value->merge_key))
        fail_msg("%s.%s: no merge key '%s'", type, field->name, value->merge_key);
}

static bool default_matches_type(enum schema_type type, const struct json *json)
{
    switch (type) {
    case SCHEMA_STRING:
        return json->type == JSON_STRING;
    case SCHEMA_BOOL:
        return json->type == JSON_BOOL;
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        return json->type == JSON_INT;
    case SCHEMA_OBJECT:
        return json->type == JSON_OBJECT;
    default:
        return false; /* no table has a default of another type */
    }
}

static bool is_word(const struct schema_rules *rules, const char *text)
{
    for (size_t i = 0; rules->words[i]; i++)
        if (str_eq(rules->words[i], text))
            return true;
    return false;
}

static void check_fallback(const char *type, const struct schema_field *field)
{
    struct json *json;
    struct err err = ERR_INIT;
    if (!field->fallback)
        return;
    if (json_parse(arena, field->fallback, strlen(field->fallback), NULL, &json, &err) < 0)
        fail_msg("%s.%s: %s", type, field->name, err.message);
    if (!default_matches_type(field->value.type, json))
        fail_msg("%s.%s: its default is of another type", type, field->name);
    if (field->value.rules && field->value.rules->words &&
        !is_word(field->value.rules, json_text(json)))
        fail_msg("%s.%s: its default is not allowed", type, field->name);
}

/* Checks the description that `kubectl explain` shows. */
static void check_doc(const char *type, const char *field, const char *doc)
{
    enum { DOC_MAX = 100 };
    if (str_is_empty(doc))
        fail_msg("%s.%s: nothing is said of it", type, field);
    if (strlen(doc) > DOC_MAX || str_has_suffix(doc, ".") || str_has_suffix(doc, " "))
        fail_msg("%s.%s: not a short sentence without full stop: '%s'", type, field, doc);
}

static void visit_object(struct visit *visit, const struct schema_object *object);

static void visit_value(struct visit *visit, const char *type, const struct schema_field *field,
                        const struct schema *value)
{
    bool has_items = value->type == SCHEMA_LIST || value->type == SCHEMA_MAP;
    if (has_items != (value->items != NULL) ||
        (value->type != SCHEMA_ANY && (value->type == SCHEMA_OBJECT) != (value->object != NULL)))
        fail_msg("%s.%s: not what its type says", type, field->name);
    if (value->items)
        visit_value(visit, type, field, value->items);
    if (value->object)
        visit_object(visit, value->object);
}

static void check_unique(const struct schema_object *object, const struct schema_field *field)
{
    for (const struct schema_field *other = object->fields; other != field; other++) {
        if (str_eq(other->name, field->name))
            fail_msg("%s.%s: twice", object->name, field->name);
        if (field->number && other->number == field->number)
            fail_msg("%s.%s: has the number of %s", object->name, field->name, other->name);
    }
}

static void visit_object(struct visit *visit, const struct schema_object *object)
{
    for (size_t i = 0; i < visit->count; i++) {
        if (visit->seen[i] == object)
            return;
        if (str_eq(visit->seen[i]->name, object->name))
            fail_msg("%s: defined twice", object->name);
    }
    assert_true(visit->count < TYPES_MAX);
    visit->seen[visit->count++] = object;
    check_doc(object->name, "", object->doc);
    for (const struct schema_field *field = object->fields; field->name; field++) {
        visit->fields++;
        check_unique(object, field);
        check_doc(object->name, field->name, field->doc);
        if (field->value.type == SCHEMA_LIST)
            check_list(object->name, field);
        check_fallback(object->name, field);
        visit_value(visit, object->name, field, &field->value);
    }
}

/* All types that an object can have: those of the served kinds, and those of other bodies. */
static const struct schema_object *type_at(size_t position)
{
    size_t kinds = 0, served = 0;
    for (; kube_kind_at(kinds); kinds++)
        if (kinds == position)
            return kube_kind_at(kinds)->schema;
    for (; SERVED_KINDS[served]; served++)
        if (kinds + served == position)
            return SERVED_KINDS[served]->schema;
    if (kinds + served == position)
        return &TYPE_CUSTOM_RESOURCE_DEFINITION;
    const struct type_kind *message = types_message_at(position - kinds - served - 1);
    return message ? message->object : NULL;
}

static void tables_are_consistent(void **state)
{
    (void)state;
    struct visit visit = {0};
    const struct schema_object *type;
    for (size_t i = 0; (type = type_at(i)); i++) {
        assert_non_null(schema_field(type, "kind"));
        visit_object(&visit, type);
    }
    visit_object(&visit, &TYPE_STATUS);
    assert_true(visit.count > 250 && visit.fields > 1300);
}

/* ---- docs/unsupported.md --------------------------------------------------------------------- */

/* Returns the name as docs/unsupported.md writes it: "core.v1.PodSpec" for
 * "io.k8s.api.core.v1.PodSpec". */
static const char *short_name(const char *name)
{
    static const char *const prefixes[] = {"io.k8s.api.", "io.k8s.apimachinery.pkg.apis.",
                                           "io.k8s.apiextensions-apiserver.pkg.apis."};
    for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
        if (str_has_prefix(name, prefixes[i]))
            return name + strlen(prefixes[i]);
    return name;
}

static int compare_rows(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns the rows that the page must have, sorted. */
static const char *effect_rows(const struct visit *visit)
{
    enum { ROWS_MAX = 1000 };
    const char *rows[ROWS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < visit->count; i++) {
        const struct schema_object *object = visit->seen[i];
        for (const struct schema_field *field = object->fields; field->name; field++) {
            if (!field->unsupported)
                continue;
            assert_true(count < ROWS_MAX);
            rows[count++] = arena_printf(arena, "| `%s.%s` | %s |\n", short_name(object->name),
                                         field->name, field->unsupported);
        }
    }
    qsort(rows, count, sizeof(rows[0]), compare_rows);
    const char *text = "| field | what is so here |\n|---|---|\n";
    for (size_t i = 0; i < count; i++)
        text = arena_printf(arena, "%s%s", text, rows[i]);
    return text;
}

static void unsupported_fields_are_documented(void **state)
{
    (void)state;
    static const char begin[] = "<!-- effect: begin -->\n", end[] = "<!-- effect: end -->";
    struct visit visit = {0};
    struct buf page;
    struct err err = ERR_INIT;
    const struct schema_object *type;
    for (size_t i = 0; (type = type_at(i)); i++)
        visit_object(&visit, type);
    buf_init(&page, 1024 * 1024);
    if (file_read(UNSUPPORTED_PAGE, &page, &err) < 0)
        fail_msg("%s", err.message);
    const char *from = strstr(page.data, begin), *to = strstr(page.data, end);
    assert_true(from && to && from < to);
    from += strlen(begin);
    const char *rows = effect_rows(&visit);
    if (!str_eq(arena_strndup(arena, from, (size_t)(to - from)), rows)) {
        fputs(rows, stderr);
        fail_msg("docs/unsupported.md: between its marks must stand what is printed above");
    }
    buf_release(&page);
}

static void kinds_are_found(void **state)
{
    (void)state;
    assert_ptr_equal(kube_kind_find_type(NULL, "v1", "Pod"), &TYPE_POD);
    assert_ptr_equal(kube_kind_find_type(NULL, "apps/v1", "Deployment"), &TYPE_DEPLOYMENT);
    assert_ptr_equal(kube_kind_find_type(NULL, "v1", "DeleteOptions"), &TYPE_DELETE_OPTIONS);
    assert_ptr_equal(kube_kind_find_type(NULL, "policy/v1", "Eviction"), &TYPE_EVICTION);
    assert_null(kube_kind_find_type(NULL, "apps/v1", "Pod"));
    assert_null(kube_kind_find_type(NULL, "apps/v2", "Deployment"));
    assert_null(kube_kind_find_type(NULL, "app/v1", "Deployment"));
    assert_null(kube_kind_find_type(NULL, "polic/v1", "Eviction"));
    assert_null(kube_kind_find_type(NULL, "v1", "Nothing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tables_are_consistent),
        TEST(unsupported_fields_are_documented),
        cmocka_unit_test(kinds_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
