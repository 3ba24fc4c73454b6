/* Tests objects in the store that no client could have written: without a spec, or with a spec of
 * another type, as a restored backup or an older version may leave them. The controllers act on
 * them or ignore them. The server and all other objects keep working. */
#include "base/mem.h"
#include "engine/stored/stored.h"
#include "every_kind.h"
#include "kube/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { SETTLE_MS = 120 * 1000 };

/* The fields after the metadata. */
static const char *const BODIES[] = {
    "",
    ",\"spec\":null,\"status\":null",
    ",\"spec\":7,\"status\":\"x\"",
    ",\"spec\":[],\"status\":[1]",
    ",\"spec\":{},\"status\":{}",
    ",\"spec\":{\"template\":7,\"selector\":\"x\",\"replicas\":\"2\"}",
    ",\"spec\":{\"template\":{},\"selector\":{},\"replicas\":2}",
    (",\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}}},"
     "\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"replicas\":2}"),
};

static void stored(void *context, const struct store_object *object, const struct err *err)
{
    assert_null(err);
}

static void store_incomplete(struct api *api, const struct kube_kind *resource, size_t number)
{
    const char *name = arena_printf(api->arena, "incomplete-%zu", number);
    const char *namespace_ = resource->id.namespaced ? "default" : "";
    const char *text =
        arena_printf(api->arena,
                     "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\","
                     "\"namespace\":\"%s\",\"uid\":\"%s-%zu\",\"labels\":{\"a\":\"b\"}}%s}",
                     resource->api_version, resource->id.kind, name, namespace_,
                     resource->id.plural, number, BODIES[number]);
    struct err err = ERR_INIT;
    if (store_put(api->store, stored_key(api->arena, resource, namespace_, name), text,
                  strlen(text), 0, stored, NULL, &err) < 0)
        fail_msg("%s", err.message);
}

/* Checks that a pod can still be created and read. */
static void expect_served(struct api *api)
{
    struct answer answer = api_post(api, "/api/v1/namespaces/default/pods",
                                    "{\"metadata\":{\"generateName\":\"p-\"},\"spec\":{"
                                    "\"containers\":[{\"name\":\"main\",\"image\":\"i\"}]}}");
    assert_int_equal(answer.status, 201);
    const char *name = answer_at(api, &answer, "metadata.name");
    const char *path = arena_printf(api->arena, "/api/v1/namespaces/default/pods/%s", name);
    assert_int_equal(api_get(api, path).status, 200);
}

static void test_each_kind(void **state)
{
    struct api *api = *state;
    const struct kube_kind *resource;
    for (size_t i = 0; (resource = every_kind_at(i)); i++) {
        for (size_t number = 0; number < ARRAY_SIZE(BODIES); number++)
            store_incomplete(api, resource, number);
        api_run(api, SETTLE_MS);
        const char *path = kind_path(api->arena, resource);
        assert_int_equal(api_get(api, path).status, 200);
        expect_served(api);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_kind, api_controlled_setup,
                                        api_controlled_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
