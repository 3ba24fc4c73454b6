/* Tests bodies that are so large that a pool thread parses them; see large.c. */
#include "api.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MAPS "/api/v1/namespaces/default/configmaps"

/* Returns a ConfigMap that is so large that a pool thread parses it. */
static const char *large_map(struct api *api, const char *meta, const char *last_key)
{
    _cleanup_buf_ struct buf body;
    buf_init(&body, SIZE_MAX / 2);
    buf_printf(&body, "{\"metadata\":{%s},\"data\":{", meta);
    for (int i = 0; i < 20000; i++)
        buf_printf(&body, "\"key-%05d\":\"\",", i);
    buf_printf(&body, "\"%s\":\"z\"}}", last_key);
    return arena_strdup(api->arena, body.data);
}

static void test_create(void **state)
{
    struct api *api = *state;
    struct stream *watch = stream_open(api, MAPS "?watch=1", NULL);
    struct answer made = api_post(api, MAPS, large_map(api, "\"name\":\"a\"", "z"));
    assert_int_equal(made.status, 201);
    api_run(api, 10);
    assert_int_equal(stream_count(watch), 1);
    assert_true(json_equal(json_get(stream_event(watch, 0), "object"), made.json));
    stream_close(watch);
    assert_int_equal(json_count(json_get(made.json, "data")), 20001);
    assert_string_equal(answer_at(api, &made, "data.z"), "z");
    assert_int_equal(strlen(answer_at(api, &made, "metadata.uid")), 36);
    struct answer got = api_get(api, MAPS "/a");
    assert_string_equal(got.body, made.body);
    /* The revision was filled in after a pool thread had encoded the bytes. */
    struct answer listed = api_get(api, MAPS);
    assert_string_equal(answer_at(api, &listed, "metadata.resourceVersion"),
                        answer_at(api, &made, "metadata.resourceVersion"));

    struct answer again = api_post(api, MAPS, large_map(api, "\"name\":\"a\"", "z"));
    assert_int_equal(again.status, 409);
    assert_string_equal(answer_reason(&again), "AlreadyExists");
    struct answer drawn = api_post(api, MAPS, large_map(api, "\"generateName\":\"b-\"", "z"));
    assert_true(str_has_prefix(answer_at(api, &drawn, "metadata.name"), "b-"));
    struct answer dry = api_post(api, MAPS "?dryRun=All", large_map(api, "\"name\":\"c\"", "z"));
    assert_int_equal(dry.status, 201);
    assert_int_equal(api_get(api, MAPS "/c").status, 404);
}

/* A definition that admission changes, because it writes the status. */
static void test_definition(void **state)
{
    struct api *api = *state;
    size_t size = 256 * 1024;
    char *text = arena_alloc(api->arena, size + 1);
    memset(text, 'x', size);
    text[size] = '\0';
    const char *body = arena_printf(
        api->arena,
        "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
        "\"metadata\":{\"name\":\"larges.x.io\"},\"spec\":{\"group\":\"x.io\",\"scope\":"
        "\"Namespaced\",\"names\":{\"plural\":\"larges\",\"kind\":\"Large\"},\"versions\":[{"
        "\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{"
        "\"type\":\"object\",\"description\":\"%s\"}}}]}}",
        text);
    static const char path[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    struct answer made = api_post(api, path, body);
    assert_int_equal(made.status, 201);
    struct answer got = api_get(api, arena_printf(api->arena, "%s/larges.x.io", path));
    assert_true(kube_condition_is_true(got.json, "NamesAccepted"));
    assert_int_equal(api_get(api, "/apis/x.io/v1/larges").status, 200);
}

#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define WAGON                                                                                      \
    "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","           \
    "\"metadata\":{\"name\":\"wagons.x.io\"},\"spec\":{\"group\":\"x.io\",\"scope\":\"Cluster\","  \
    "\"names\":{\"plural\":\"wagons\",\"kind\":\"Wagon\"},\"versions\":[{\"name\":\"v1\","         \
    "\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","       \
    "\"x-kubernetes-preserve-unknown-fields\":true}}}]}}"

/* The definition is removed while a pool thread has the object. */
static void handle_without_definition(struct http_exchange *exchange, void *context)
{
    static const char key[] = "/customresourcedefinitions.apiextensions.k8s.io/wagons.x.io";
    struct api *api = context;
    engine_handle(exchange, api->engine);
    struct store_object *stored = store_get(api->store, key);
    assert_non_null(stored);
    const char *data = store_object_data(stored, api->arena);
    assert_int_equal(
        store_delete(api->store, key, data, stored->size, stored->revision, NULL, NULL, NULL), 0);
    store_object_unref(stored);
}

struct asked {
    int status;
};

static void on_asked_head(void *context, int status, const struct http_header *headers)
{
    struct asked *asked = context;
    asked->status = status;
}

static void on_asked_end(void *context, const struct err *err)
{
    assert_null(err);
}

static void test_kind_removed_during_parsing(void **state)
{
    struct api *api = *state;
    static const struct http_callbacks listener = {.on_head = on_asked_head,
                                                   .on_end = on_asked_end};
    const char *body = large_map(api, "\"name\":\"a\"", "z");
    struct http_request request = {.method = "POST",
                                   .path = "/apis/x.io/v1/wagons",
                                   .query = "",
                                   .body = body,
                                   .body_size = strlen(body)};
    struct asked asked = {0};
    assert_int_equal(api_post(api, DEFINITIONS, WAGON).status, 201);
    struct http_transport *transport =
        http_local_new(api->loop, handle_without_definition, api, API_TOKEN);
    http_start(transport, &request, 0, &listener, &asked);
    api_run(api, 1000);
    assert_int_equal(asked.status, 503);
    http_transport_free(transport);
    assert_int_equal(api_post(api, DEFINITIONS, WAGON).status, 201);
    struct answer listed = api_get(api, "/apis/x.io/v1/wagons");
    assert_int_equal(json_count(json_get(listed.json, "items")), 0);
}

static void test_update(void **state)
{
    struct api *api = *state;
    assert_int_equal(api_put(api, MAPS "/a", large_map(api, "\"name\":\"a\"", "z")).status, 404);
    struct answer made = api_post(api, MAPS, large_map(api, "\"name\":\"a\"", "y"));
    struct answer put = api_put(api, MAPS "/a", large_map(api, "\"name\":\"a\"", "z"));
    assert_int_equal(put.status, 200);
    assert_null(json_at(put.json, "data", "y", NULL));
    assert_string_equal(answer_at(api, &put, "data.z"), "z");
    assert_string_equal(answer_at(api, &put, "metadata.uid"),
                        answer_at(api, &made, "metadata.uid"));
    assert_string_equal(api_get(api, MAPS "/a").body, put.body);
    /* An update that changes nothing is not written. */
    struct answer same = api_put(api, MAPS "/a", large_map(api, "\"name\":\"a\"", "z"));
    assert_int_equal(same.status, 200);
    assert_string_equal(answer_at(api, &same, "metadata.resourceVersion"),
                        answer_at(api, &put, "metadata.resourceVersion"));
    const char *old = arena_printf(api->arena, "\"name\":\"a\",\"resourceVersion\":\"%s\"",
                                   answer_at(api, &made, "metadata.resourceVersion"));
    assert_int_equal(api_put(api, MAPS "/a", large_map(api, old, "x")).status, 409);
    assert_int_equal(api_put(api, MAPS "/a", large_map(api, "\"name\":\"b\"", "x")).status, 400);
    assert_int_equal(api_put(api, MAPS "/a", large_map(api, "\"name\":\"a\"", "no key")).status,
                     422);
    assert_int_equal(
        api_put(api, MAPS "/a?dryRun=All", large_map(api, "\"name\":\"a\"", "x")).status, 200);
    assert_string_equal(api_get(api, MAPS "/a").body, put.body);
}

static void test_rejected_large_objects(void **state)
{
    struct api *api = *state;
    static const struct {
        const char *path, *meta, *key;
        int status;
    } rows[] = {
        {MAPS, "\"name\":\"a\"", "not a key", 422},
        {MAPS, "\"name\":\"A_\"", "z", 422},
        {MAPS, "\"name\":\"a\",\"resourceVersion\":\"1\"", "z", 400},
        {"/api/v1/namespaces/none/configmaps", "\"name\":\"a\"", "z", 404},
        {MAPS "?fieldManager=%07", "\"name\":\"a\"", "z", 422},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer answer =
            api_post(api, rows[i].path, large_map(api, rows[i].meta, rows[i].key));
        assert_int_equal(answer.status, rows[i].status);
    }
    struct answer twice = api_post(api, MAPS "?fieldValidation=Strict",
                                   large_map(api, "\"name\":\"a\"", "key-00000"));
    assert_int_equal(twice.status, 400);
    assert_int_equal(api_get(api, MAPS "/a").status, 404);
}

static void never(void *context, const struct err *err)
{
    fail_msg("a canceled call ended");
}

/* Two creates at once: one succeeds, because the loop checks the store after the pool has
 * parsed. */
static void test_concurrent_large_writes(void **state)
{
    struct api *api = *state;
    static const struct http_callbacks listener = {.on_head = on_asked_head,
                                                   .on_end = on_asked_end};
    const char *body = large_map(api, "\"name\":\"a\"", "z");
    struct http_request request = {
        .method = "POST", .path = MAPS, .query = "", .body = body, .body_size = strlen(body)};
    struct asked asked[2] = {0};
    for (size_t i = 0; i < 2; i++)
        http_start(api->transport, &request, 0, &listener, &asked[i]);
    api_run(api, 1000);
    assert_int_equal(asked[0].status + asked[1].status, 201 + 409);
    /* Two updates at once: one fails, because the other was written in between. */
    request.method = "PUT";
    request.path = MAPS "/a";
    const char *bodies[2] = {large_map(api, "\"name\":\"a\"", "p"),
                             large_map(api, "\"name\":\"a\"", "q")};
    for (size_t i = 0; i < 2; i++) {
        asked[i].status = 0;
        request.body = bodies[i];
        request.body_size = strlen(bodies[i]);
        http_start(api->transport, &request, 0, &listener, &asked[i]);
    }
    api_run(api, 1000);
    assert_int_equal(asked[0].status + asked[1].status, 200 + 409);
    request.method = "POST";
    request.path = MAPS;
    /* If the client disconnects, the write goes on. */
    const char *other = large_map(api, "\"name\":\"b\"", "z");
    request.body = other;
    request.body_size = strlen(other);
    static const struct http_callbacks deaf = {.on_end = never};
    struct http_call *call = http_start(api->transport, &request, 0, &deaf, NULL);
    api_run(api, 0);
    http_cancel(api->transport, call);
    api_run(api, 1000);
    assert_int_equal(api_get(api, MAPS "/b").status, 200);
}

int main(void)
{
#define API_TEST(function) cmocka_unit_test_setup_teardown(function, api_setup, api_teardown)
    const struct CMUnitTest tests[] = {
        API_TEST(test_create),
        API_TEST(test_definition),
        API_TEST(test_kind_removed_during_parsing),
        API_TEST(test_update),
        API_TEST(test_rejected_large_objects),
        API_TEST(test_concurrent_large_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
