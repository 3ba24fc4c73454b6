/* Tests custom resources against their schema. The messages must be those of a real API server,
 * recorded by tests/kubernetes/record_definitions.py. */
#include "kube/schema/validate.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "kube/schema/compile.h"
#include "read_json.h"

static struct json *read_cases(struct arena *arena)
{
    _cleanup_buf_ struct buf text;
    struct json *cases = NULL;
    struct err err = ERR_INIT;
    buf_init(&text, 4 << 20);
    if (file_read(TEST_DATA "/custom_objects.json", &text, &err) < 0 ||
        json_parse(arena, text.data, text.size, NULL, &cases, &err) < 0)
        fail_msg("%s", err.message);
    return cases;
}

/* Rewrites our text in the form of Kubernetes 1.20. It did not name the element of a list, wrote
 * limits without their fraction if the value had none, and wrote values as Go does. */
static char *as_recorded(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text), *to = copy;
    for (const char *from = copy; *from; from++) {
        size_t digits = *from == '[' ? strspn(from + 1, "0123456789") : 0;
        if (digits > 0 && from[digits + 1] == ']' && !strstr(text, "Duplicate value"))
            from += digits + 1;
        else
            *to++ = *from;
    }
    *to = '\0';
    return copy;
}

static bool differs_on_purpose(const char *message)
{
    static const char *const words[] = {
        "spec.xmin: Invalid value: 2:", /* 2.5 */
        "spec.fmax: Invalid value: 2:", /* 1.5 */
        "Invalid value: map[string]interface {}",
        "must be Widget", /* the schema does not check the kind */
        "metadata.name",
    };
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strstr(message, words[i]))
            return true;
    return false;
}

/* Compares the characters only, because a Go map has no order of fields. */
static bool same_words(const char *a, const char *b)
{
    size_t sums[2] = {0};
    for (int i = 0; i < 2; i++)
        for (const char *c = i ? b : a; *c; c++)
            sums[i] += (size_t)*c * (size_t)*c;
    return sums[0] == sums[1];
}

static void test_recorded(void **state)
{
    struct arena *arena = arena_new();
    struct json *cases = read_cases(arena);
    const struct json *definition = json_element(cases, 0);
    const struct json *version =
        json_element(json_at(definition, "body", "spec", "versions", NULL), 0);
    const struct schema *schema =
        schema_compile(arena, json_at(version, "schema", "openAPIV3Schema", NULL));
    int compared = 0;
    JSON_EACH (one, cases) {
        struct json *body = json_get(one, "body");
        const char *message = json_get_string(one, "message", "");
        int64_t code = json_get_int(one, "code", 0);
        if (!str_eq(json_get_string(body, "kind", ""), "Widget") || (code != 201 && code != 422) ||
            differs_on_purpose(message))
            continue;
        /* A null that is not allowed has been dropped before validation. */
        struct json *spec = json_get(body, "spec");
        if (spec && spec->type == JSON_NULL)
            json_remove(body, "spec");
        for (struct json *field = json_first(spec), *next; field; field = next) {
            next = field->next;
            if (field->type == JSON_NULL && !str_eq(field->name, "nul"))
                json_remove(spec, field->name);
        }
        struct field_errors errors;
        field_errors_init(&errors, arena);
        schema_validate_value(&errors, schema, "", body);
        schema_validate_structure(&errors, schema, "", body);
        if (code == 201) {
            if (errors.count > 0)
                fail_msg("%s: %s", json_to_string(arena, body), field_errors_text(&errors));
            compared++;
            continue;
        }
        const char *expected = strstr(message, " is invalid: ") + strlen(" is invalid: ");
        const char *said = as_recorded(arena, field_errors_text(&errors));
        const char *go = strstr(expected, "map[string]interface {}");
        if (go) /* as newer versions write it */
            expected = arena_printf(arena, "%.*s%s", (int)(go - expected), expected,
                                    go + strlen("map[string]interface {}"));
        if (!same_words(expected, said))
            fail_msg("%s:\n  real: %s\n  here: %s", json_to_string(arena, spec), expected, said);
        compared++;
    }
    assert_true(compared > 140);
    arena_free(arena);
}

static const char *errors_of_value(struct arena *arena, const char *schema, const char *object)
{
    struct field_errors errors;
    field_errors_init(&errors, arena);
    const struct schema *compiled = schema_compile(arena, read_json(arena, schema));
    struct json *json = read_json(arena, object);
    schema_validate_value(&errors, compiled, "", json);
    schema_validate_structure(&errors, compiled, "", json);
    return field_errors_text(&errors);
}

/* Elements of lists are named, as in Kubernetes since 1.21. */
static void test_paths(void **state)
{
    struct arena *arena = arena_new();
    assert_string_equal(
        errors_of_value(
            arena,
            "{'type':'object','properties':{'a':{'type':'array','items':{'type':'object',"
            "'properties':{'b':{'type':'integer','minimum':2}}}}}}",
            "{'a':[{'b':2},{'b':1}]}"),
        "a[1].b: Invalid value: 1: a[1].b in body should be greater than or equal to 2");
    assert_string_equal(
        errors_of_value(arena, "{'type':'object','required':['spec'],'properties':{}}", "{}"),
        "spec: Required value");
    assert_string_equal(
        errors_of_value(arena,
                        "{'type':'object','properties':{'metadata':{'type':'object','properties':"
                        "{'name':{'type':'string','maxLength':3}}}}}",
                        "{'metadata':{'name':'four'}}"),
        "[metadata.name: Invalid value: \"four\": metadata.name in body should be at most 3 chars "
        "long, <nil>: Invalid value: \"\": \"metadata\" must validate all the schemas (allOf)]");
    arena_free(arena);
}

/* A million invalid elements cost no more than the errors that are reported. */
static void test_limits(void **state)
{
    struct arena *arena = arena_new();
    struct json *list = json_array(arena), *object = json_object(arena);
    for (int i = 0; i < 100000; i++)
        json_append(list, json_int(arena, i));
    json_set(arena, object, "a", list);
    const struct schema *schema = schema_compile(
        arena, read_json(arena, "{'type':'object','properties':{'a':{'type':'array',"
                                "'items':{'type':'string'},'x-kubernetes-list-type':'set'}}}"));
    struct field_errors errors;
    field_errors_init(&errors, arena);
    schema_validate_value(&errors, schema, "", object);
    schema_validate_structure(&errors, schema, "", object);
    assert_int_equal(errors.count, FIELD_ERRORS_MAX);
    assert_int_equal(schema_count_nodes(read_json(
                         arena, "{'properties':{'a':{'items':{'allOf':[{},{'not':{}}]}},'b':{}},"
                                "'additionalProperties':true}")),
                     7);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
