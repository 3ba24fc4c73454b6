/* Tests which definitions and custom resources are accepted. The answers of a real API server were
 * recorded by tests/kubernetes/record_definitions.py. */
#include "api.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "read_json.h"

#include <inttypes.h>

static struct json *read_cases(struct api *api, const char *path)
{
    _cleanup_buf_ struct buf text;
    struct json *cases = NULL;
    struct err err = ERR_INIT;
    buf_init(&text, 4 << 20);
    if (file_read(path, &text, &err) < 0 ||
        json_parse(api->arena, text.data, text.size, NULL, &cases, &err) < 0)
        fail_msg("%s", err.message);
    return cases;
}

static struct answer replay(struct api *api, const struct json *one)
{
    const struct json *body = json_get(one, "body");
    const char *method = json_get_string(one, "method", body ? "POST" : "GET");
    return api_call(api, method, json_get_string(one, "path", ""),
                    str_eq(method, "PATCH") ? "application/merge-patch+json" : "application/json",
                    "application/json", body ? json_to_string(api->arena, body) : NULL);
}

static char *replace(struct arena *arena, const char *text, const char *from, const char *to)
{
    const char *found = strstr(text, from);
    return found ? arena_printf(arena, "%.*s%s%s", (int)(found - text), text, to,
                                found + strlen(from))
                 : arena_strdup(arena, text);
}

/* Kubernetes 1.20 named the old fields if a definition had one version. Returns the present
 * field. */
static const char *present_field(struct arena *arena, const char *field)
{
    field = replace(arena, field, "spec.validation.", "spec.versions[0].schema.");
    field = replace(arena, field, "spec.subresources.", "spec.versions[0].subresources.");
    field = replace(arena, field, "spec.additionalPrinterColumns",
                    "spec.versions[0].additionalPrinterColumns");
    return replace(arena, field, ".JSONPath", ".jsonPath");
}

/* Compares only the end of two messages, because values are shown as JSON here, and in Go's form
 * there. */
static bool ends_equally(const char *a, const char *b)
{
    size_t left = strlen(a), right = strlen(b), same = left < right ? left : right;
    same = same > 24 ? 24 : same;
    return strcmp(a + left - same, b + right - same) == 0;
}

static bool has_cause(struct arena *arena, const struct json *causes, const struct json *wanted)
{
    const char *field = present_field(arena, json_get_string(wanted, "field", ""));
    JSON_EACH (cause, causes) {
        /* This server also names the element of a list. */
        if (str_eq(replace(arena, json_get_string(cause, "field", ""), ".default[1]", ".default"),
                   field) &&
            str_eq(json_get_string(cause, "reason", ""), json_get_string(wanted, "reason", "")) &&
            ends_equally(json_get_string(cause, "message", ""),
                         json_get_string(wanted, "message", "")))
            return true;
    }
    return false;
}

/* Whether the cause is reported twice by the real server: for the old field, and for the
 * versions. */
static bool is_reported_twice(const struct json *cause)
{
    const char *field = json_get_string(cause, "field", "");
    return str_eq(field, "spec.version") || str_eq(field, "status.storedVersions");
}

static void compare(struct api *api, const struct json *one)
{
    struct answer answer = replay(api, one);
    const struct json *said = json_at(answer.json, "details", "causes", NULL);
    size_t wanted = 0;
    if (answer.status != json_get_int(one, "code", 0))
        fail_msg("%.300s:\n  real: %" PRId64 " %s\n  here: %d %s", json_to_string(api->arena, one),
                 json_get_int(one, "code", 0), json_get_string(one, "message", ""), answer.status,
                 answer_message(&answer));
    JSON_EACH (cause, json_get(one, "causes")) {
        if (is_reported_twice(cause))
            continue;
        wanted++;
        if (!has_cause(api->arena, said, cause))
            fail_msg("%.300s:\n  real: %s\n  here: %s", json_to_string(api->arena, one),
                     json_to_string(api->arena, cause), answer_message(&answer));
    }
    if (json_count(said) != wanted)
        fail_msg("%.300s:\n  real: %s\n  here: %s", json_to_string(api->arena, one),
                 json_get_string(one, "message", ""), answer_message(&answer));
}

static void compare_kept(struct api *api, const struct json *one)
{
    struct answer answer = replay(api, one);
    assert_int_equal(answer.status, json_get_int(one, "code", 0));
    JSON_EACH (kept, json_get(one, "kept")) {
        if (kept->type == JSON_NULL)
            continue;
        const char *here = answer_at(api, &answer, kept->name);
        struct json *parsed = NULL;
        if (kept->type == JSON_STRING
                ? !str_eq(here, kept->text)
                : json_parse(api->arena, here, strlen(here), NULL, &parsed, NULL) < 0 ||
                      !json_equal(parsed, kept))
            fail_msg("%s: %s is %s, not %s", json_get_string(one, "path", ""), kept->name, here,
                     json_to_string(api->arena, kept));
    }
}

static void test_definitions(void **state)
{
    struct api *api = *state;
    JSON_EACH (one, read_cases(api, TEST_DATA "/definitions.json")) {
        const char *path = json_get_string(one, "path", "");
        bool conditions = strstr(path, "widgetz") && !json_get(one, "body");
        if (json_get(one, "kept") && !conditions)
            compare_kept(api, one);
        else if (!conditions)
            compare(api, one);
    }
}

/* If there are several conflicts, the last one is reported, as in Kubernetes. */
static void test_names_in_use(void **state)
{
    struct api *api = *state;
    struct answer answer = {0};
    JSON_EACH (one, read_cases(api, TEST_DATA "/definitions.json")) {
        const char *name = json_get_string(json_at(one, "body", "metadata", NULL), "name", "");
        if (str_has_prefix(name, "widgets.x") || str_has_prefix(name, "widgetz."))
            answer = replay(api, one);
    }
    answer = api_get(
        api, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgetz.x.example.org");
    assert_string_equal(answer_at(api, &answer, "status.conditions.0.reason"), "ListKindConflict");
    assert_string_equal(answer_at(api, &answer, "status.conditions.0.message"),
                        "\"WidgetList\" is already in use");
    assert_string_equal(answer_at(api, &answer, "status.conditions.1.reason"), "NotAccepted");
    assert_string_equal(answer_at(api, &answer, "status.acceptedNames"),
                        "{\"plural\":\"widgetz\",\"kind\":\"\"}");
    assert_int_equal(api_get(api, "/apis/x.example.org/v1/widgetz").status, 404);
}

static void test_objects(void **state)
{
    struct api *api = *state;
    int compared = 0;
    JSON_EACH (one, read_cases(api, KUBE_DATA "/custom_objects.json")) {
        const char *kind = json_get_string(json_get(one, "body"), "kind", "");
        if (str_eq(kind, "Other") || json_get_int(one, "code", 0) == 400)
            continue; /* the messages differ here: another kind, and metadata within an object */
        struct answer answer = replay(api, one);
        if (answer.status != json_get_int(one, "code", 0))
            fail_msg("%s:\n  here: %d %s", json_to_string(api->arena, one), answer.status,
                     answer_message(&answer));
        compared++;
        if (json_get(one, "kept") && answer.status == 201)
            JSON_EACH (kept, json_get(one, "kept")) {
                const char *here = answer_at(api, &answer, kept->name);
                struct json *parsed = NULL;
                if (kept->type != JSON_NULL && kept->type != JSON_STRING &&
                    (json_parse(api->arena, here, strlen(here), NULL, &parsed, NULL) < 0 ||
                     !json_equal(parsed, kept)))
                    fail_msg("%s is %s, not %s", kept->name, here,
                             json_to_string(api->arena, kept));
            }
    }
    assert_true(compared > 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_definitions, api_setup, api_teardown),
        cmocka_unit_test_setup_teardown(test_names_in_use, api_setup, api_teardown),
        cmocka_unit_test_setup_teardown(test_objects, api_setup, api_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
