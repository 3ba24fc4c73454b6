/* Tests the conversion of errors to Status and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kube/status.h"
#include "read_json.h"

#include <string.h>

static void every_error_code_round_trips(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (int code = ERR_INTERNAL; code < ERR_CODES; code++) {
        struct err err = ERR_INIT, back = ERR_INIT;
        err_set(&err, (enum err_code)code, "pods \"p\": %d", code);
        struct json *status = kube_status_from_err(arena, &err, NULL);
        assert_true(kube_status_to_err(status, &back) < 0);
        /* A code without a reason is recognized only by its HTTP status. */
        if (err_info(err.code)->reason[0])
            assert_string_equal(err_info(back.code)->reason, err_info(err.code)->reason);
        else
            assert_int_equal(err_info(back.code)->http_status, err_info(err.code)->http_status);
        assert_string_equal(back.message, err.message);
    }
}

static void a_status_is_written_as_by_kubernetes(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct err err = ERR_INIT;
    err_set(&err, ERR_NOT_FOUND, "tfjobs.kubeflow.org \"j\" not found");
    struct kube_status_details details = {.name = "j", .group = "kubeflow.org", .kind = "tfjobs"};
    assert_string_equal(
        json_to_string(arena, kube_status_from_err(arena, &err, &details)),
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
        "\"message\":\"tfjobs.kubeflow.org \\\"j\\\" not found\",\"reason\":\"NotFound\","
        "\"details\":{\"name\":\"j\",\"group\":\"kubeflow.org\",\"kind\":\"tfjobs\"},"
        "\"code\":404}");
    details = (struct kube_status_details){.uid = "u"};
    assert_string_equal(json_to_string(arena, kube_status_success(arena, &details)),
                        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                        "\"status\":\"Success\",\"details\":{\"uid\":\"u\"}}");
}

static void a_status_contains_causes(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct err err = ERR_INIT;
    err_set(&err, ERR_INVALID, "bad");
    struct json *causes = json_array(arena);
    kube_status_add_cause(arena, causes, "FieldValueInvalid", "spec.x", "must be positive");
    struct kube_status_details details = {.causes = causes};
    struct json *status = kube_status_from_err(arena, &err, &details);
    struct json *cause = json_element(json_at(status, "details", "causes", NULL), 0);
    assert_string_equal(json_get_string(cause, "field", ""), "spec.x");
    assert_string_equal(json_get_string(cause, "reason", ""), "FieldValueInvalid");
}

static void a_status_is_read_from_a_response(void **state)
{
    static const struct {
        int http_status;
        const char *body;
        enum err_code code;
        const char *message;
    } CASES[] = {
        {409,
         "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
         "\"reason\":\"AlreadyExists\",\"message\":\"m\",\"code\":409}",
         ERR_EXISTS, "m"},
        {409,
         "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
         "\"reason\":\"Conflict\",\"message\":\"m\",\"code\":409}",
         ERR_CONFLICT, "m"},
        {410,
         "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
         "\"reason\":\"Gone\",\"code\":410}",
         ERR_EXPIRED, "expired"},
        {403, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":403}", ERR_FORBIDDEN,
         "forbidden"},
        {502, "<html>bad\nmore", ERR_INTERNAL, "GET /x: the server answered 502: <html>bad"},
        {404, "", ERR_NOT_FOUND, "GET /x: the server answered 404"},
        {503, "{\"kind\":\"Pod\"}", ERR_UNAVAILABLE,
         "GET /x: the server answered 503: {\"kind\":\"Pod\"}"},
        {500, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Success\"}", ERR_INTERNAL,
         "GET /x: the server answered 500: {\"kind\":\"Status\",\"apiVersion\":\"v1\","
         "\"status\":\"Success\"}"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct err err = ERR_INIT;
        assert_int_equal(kube_status_of_answer(CASES[i].http_status, CASES[i].body,
                                               strlen(CASES[i].body), "GET /x", &err),
                         -(int)CASES[i].code);
        assert_string_equal(err.message, CASES[i].message);
    }
}

static void invalid_statuses_are_rejected(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    assert_int_equal(kube_status_to_err(read_json(arena, "{'kind': 'Pod'}"), NULL), -ERR_INTERNAL);
    assert_int_equal(kube_status_to_err(NULL, NULL), -ERR_INTERNAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_error_code_round_trips),
        cmocka_unit_test(a_status_is_written_as_by_kubernetes),
        cmocka_unit_test(a_status_contains_causes),
        cmocka_unit_test(a_status_is_read_from_a_response),
        cmocka_unit_test(invalid_statuses_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
