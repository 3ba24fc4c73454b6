/* Tests an object in the store that cannot be read. The server starts, lists and watches leave the
 * object out and warn about it, and it can be deleted. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/internal.h"
#include "engine/stored/stored.h"
#include "every_kind.h"
#include "kube/object.h"
#include "served_kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define TABLE   "application/json;as=Table;v=v1;g=meta.k8s.io"
#define PARTIAL "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
#define PODS    "/api/v1/namespaces/default/pods"

enum { DEEP = 200, SETTLE_MS = 60 * 1000 };

/* The kinds of damage. */
enum damage {
    TOO_DEEP,
    GARBAGE,
    EMPTY,
    NO_OBJECT,
    WRONG_METADATA,
    NO_METADATA,
    OTHER_NAME,
    DAMAGES,
};

/* ---- Storing --------------------------------------------------------------------------------- */

static void stored(void *context, const struct store_object *object, const struct err *err)
{
    assert_null(err);
}

static void store_bytes(struct api *api, const char *key, const char *data, size_t size)
{
    struct err err = ERR_INIT;
    struct store_object *old = store_get(api->store, key);
    if (store_put(api->store, key, data, size, old ? old->revision : 0, stored, NULL, &err) < 0)
        fail_msg("%s", err.message);
    store_object_unref(old);
    api_run(api, 1);
}

static void remove_bytes(struct api *api, const char *key)
{
    struct store_object *old = store_get(api->store, key);
    assert_int_equal(store_delete(api->store, key, "{}", 2, old->revision, stored, NULL, NULL), 0);
    store_object_unref(old);
    api_run(api, 1);
}

static void store_broken(struct api *api, const struct kube_kind *resource, const char *namespace_,
                         const char *name, enum damage damage)
{
    _cleanup_buf_ struct buf data;
    const char *head = arena_printf(api->arena, "{\"apiVersion\":\"%s\",\"kind\":\"%s\"",
                                    resource->api_version, resource->id.kind);
    buf_init(&data, 1 << 20);
    switch (damage) {
    case TOO_DEEP:
        buf_printf(&data, "%s,\"metadata\":{\"name\":\"%s\"},\"spec\":", head, name);
        for (int i = 0; i < DEEP; i++)
            buf_append_str(&data, "{\"a\":");
        buf_append_char(&data, '1');
        for (int i = 0; i <= DEEP; i++)
            buf_append_char(&data, '}');
        break;
    case GARBAGE:
        buf_append(&data, "\xff\0{\x80garbage", 11);
        break;
    case EMPTY:
        break;
    case NO_OBJECT:
        buf_append_str(&data, "[1,2,3]");
        break;
    case WRONG_METADATA:
        buf_printf(&data,
                   "%s,\"metadata\":{\"name\":\"%s\",\"labels\":\"x\",\"ownerReferences\":7,"
                   "\"finalizers\":{}}}",
                   head, name);
        break;
    case NO_METADATA:
        buf_printf(&data, "%s,\"metadata\":\"none\"}", head);
        break;
    case OTHER_NAME:
        buf_printf(&data, "%s,\"metadata\":{\"name\":\"another\"}}", head);
        break;
    case DAMAGES:
        break;
    }
    store_bytes(api, stored_key(api->arena, resource, namespace_, name), data.data, data.size);
}

static void store_valid(struct api *api, const struct kube_kind *resource, const char *name)
{
    struct json *object =
        kube_object_make(api->arena, &resource->id, resource->id.namespaced ? "default" : "", name);
    json_set_string(api->arena, json_get(object, "metadata"), "uid", "u-1");
    kube_meta_set_label(api->arena, object, "a", "b");
    const char *text = json_to_string(api->arena, object);
    store_bytes(api, stored_key(api->arena, resource, "default", name), text, strlen(text));
}

static const struct kube_kind *kind(const char *group, const char *plural)
{
    const struct kube_kind *found;
    for (size_t i = 0; (found = every_built_in_at(i)); i++)
        if (str_eq(found->id.group, group) && str_eq(found->id.plural, plural))
            return found;
    return NULL;
}

/* The custom kind of the definition. */
static const struct kube_kind *custom_kind(struct api *api)
{
    return registry_find(engine_registry(api->engine), "x.io", "v1", "deeps");
}

static void define(struct api *api)
{
    assert_int_equal(api_post(api, DEFINITIONS, DEEP_DEFINITION).status, 201);
    assert_non_null(custom_kind(api));
}

/* ---- One kind -------------------------------------------------------------------------------- */

/* Whether the server creates objects of this kind at each start. It then removes unreadable
 * ones. */
static bool is_created_at_start(const struct kube_kind *resource)
{
    static const char *const storages[] = {"nodes", "endpoints", "events",
                                           "leases.coordination.k8s.io",
                                           "endpointslices.discovery.k8s.io"};
    for (size_t i = 0; i < ARRAY_SIZE(storages); i++)
        if (str_eq(resource->storage, storages[i]))
            return true;
    return false;
}

static void expect_list(struct api *api, const char *path, const char *accept, const char *what)
{
    struct answer answer = api_call(api, "GET", path, NULL, accept, NULL);
    if (answer.status != 200 || !strstr(answer.body, "\"fine\"") ||
        strstr(answer.body, "\"broken\""))
        fail_msg("%s: %d %.2000s", path, answer.status, answer.body);
    if (what && (!strstr(answer.warning, what) || !strstr(answer.warning, "kubectl delete")))
        fail_msg("%s: the warning is '%s', without '%s'", path, answer.warning, what);
    if (!what && answer.warning[0])
        fail_msg("%s: the warning is '%s'", path, answer.warning);
}

static void expect_watch(struct api *api, const char *path, const char *accept)
{
    struct stream *stream = stream_open(api, path, accept);
    if (stream_ended(stream) || !strstr(stream_body(stream), "\"fine\"") ||
        strstr(stream_body(stream), "\"broken\""))
        fail_msg("%s: %.2000s", path, stream_body(stream));
    stream_close(stream);
}

static void expect_served(struct api *api, const struct kube_kind *resource)
{
    struct arena *arena = api->arena;
    const char *path = kind_path(arena, resource), *at = arena_printf(arena, "%s/broken", path);
    const char *what =
        is_created_at_start(resource)
            ? NULL
            : arena_printf(arena, "%s \\\"%sbroken\\\" cannot be read", resource->storage,
                           resource->id.namespaced ? "default/" : "");
    expect_list(api, path, "application/json", what);
    expect_list(api, path, TABLE, what);
    expect_list(api, path, PARTIAL, what);
    expect_list(api, arena_printf(arena, "%s?labelSelector=a%%3Db", path), NULL, what);
    expect_list(api, arena_printf(arena, "%s?fieldSelector=metadata.name%%3Dfine", path), NULL,
                what);
    expect_list(api, arena_printf(arena, "%s?limit=500", path), TABLE, what);
    expect_watch(api, arena_printf(arena, "%s?watch=1", path), NULL);
    expect_watch(api, arena_printf(arena, "%s?watch=1", path), TABLE);
    expect_watch(api, arena_printf(arena, "%s?watch=1&labelSelector=a%%3Db", path), NULL);
    expect_watch(api,
                 arena_printf(arena,
                              "%s?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                              "&allowWatchBookmarks=true",
                              path),
                 NULL);
    int missing = is_created_at_start(resource) ? 404 : 500;
    struct answer answer = api_get(api, at);
    assert_int_equal(answer.status, missing);
    if (missing == 500 && !(strstr(answer_message(&answer), "broken\" cannot be read") &&
                            strstr(answer_message(&answer), "kubectl delete")))
        fail_msg("%s: %s", at, answer.body);
    assert_int_equal(api_call(api, "GET", at, NULL, TABLE, NULL).status, missing);
    assert_int_equal(api_merge(api, at, "{\"metadata\":{\"labels\":{\"c\":\"d\"}}}").status,
                     missing);
}

static void expect_deleted(struct api *api, const struct kube_kind *resource)
{
    const char *path = kind_path(api->arena, resource);
    const char *at = arena_printf(api->arena, "%s/broken", path);
    struct stream *stream = stream_open(api, arena_printf(api->arena, "%s?watch=1", path), NULL);
    size_t before = stream_count(stream);
    struct answer answer = api_delete(api, at, NULL);
    if (answer.status != (is_created_at_start(resource) ? 404 : 200))
        fail_msg("%s: %d %s", at, answer.status, answer.body);
    api_run(api, SETTLE_MS);
    answer = api_get(api, at);
    if (answer.status != 404)
        fail_msg("%s: %d %s", at, answer.status, answer.body);
    if (!is_created_at_start(resource) && !strstr(stream_text(stream, before), "DELETED broken"))
        fail_msg("%s: %s", path, stream_text(stream, before));
    stream_close(stream);
}

static const char *const DAMAGE_NAMES[] = {
    [TOO_DEEP] = "too deep",
    [GARBAGE] = "garbage",
    [EMPTY] = "empty",
    [NO_OBJECT] = "no object",
    [WRONG_METADATA] = "wrong metadata",
    [NO_METADATA] = "no metadata",
    [OTHER_NAME] = "other name",
};

/* With every kind damaged at once, a new server starts, serves and deletes, and its controllers
 * run. */
static void test_every_kind(void **state)
{
    const struct kube_kind *resource;
    for (enum damage damage = 0; damage < DAMAGES; damage++) {
        struct api api;
        print_message("%s\n", DAMAGE_NAMES[damage]);
        api_open(&api, 1);
        define(&api);
        for (size_t i = 0; (resource = every_kind_at(i)); i++) {
            store_broken(&api, resource, "default", "broken", damage);
            store_valid(&api, resource, "fine");
        }
        store_broken(&api, custom_kind(&api), "default", "broken", damage);
        store_valid(&api, custom_kind(&api), "fine");
        api_restart(&api, NULL);
        for (size_t i = 0; (resource = every_kind_at(i)); i++)
            expect_served(&api, resource);
        expect_served(&api, custom_kind(&api));
        /* These objects have only a name, and no write would have accepted them. */
        for (size_t i = 0; (resource = every_kind_at(i)); i++)
            remove_bytes(&api, stored_key(api.arena, resource, "default", "fine"));
        struct engine_controllers *controllers =
            engine_controllers_new(api.loop, api.transport, SERVED_KINDS);
        api_run(&api, SETTLE_MS);
        assert_int_equal(api_post(&api, PODS, POD_X).status, 201);
        for (size_t i = 0; (resource = every_kind_at(i)); i++)
            expect_deleted(&api, resource);
        expect_deleted(&api, custom_kind(&api));
        engine_controllers_free(controllers);
        api_close(&api);
    }
}

/* ---- Namespaces and owners ------------------------------------------------------------------- */

/* A namespace and a definition are removed together with their unreadable objects, which no list
 * shows. */
static void test_deleted_with_its_namespace(void **state)
{
    struct api_controlled *fixture = *state;
    struct api *api = &fixture->api;
    const struct kube_kind *pods = kind("", "pods");
    define(api);
    assert_int_equal(
        api_post(api, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"shop\"}}").status, 201);
    api_run(api, SETTLE_MS);
    store_broken(api, pods, "shop", "broken", TOO_DEEP);
    store_broken(api, pods, "default", "broken", TOO_DEEP);
    store_broken(api, custom_kind(api), "shop", "broken", GARBAGE);
    assert_int_equal(api_delete(api, "/api/v1/namespaces/shop", NULL).status, 200);
    api_run(api, SETTLE_MS);
    assert_int_equal(api_get(api, "/api/v1/namespaces/shop").status, 404);
    assert_null(store_get(api->store, "/pods/shop/broken"));
    assert_null(store_get(api->store, "/deeps.x.io/shop/broken"));
    assert_int_equal(api_get(api, PODS "/broken").status, 500); /* the pod of another namespace */

    store_broken(api, custom_kind(api), "default", "broken", EMPTY);
    assert_int_equal(api_delete(api, DEFINITIONS "/deeps.x.io", NULL).status, 200);
    api_run(api, SETTLE_MS);
    assert_int_equal(api_get(api, DEFINITIONS "/deeps.x.io").status, 404);
    assert_null(store_get(api->store, "/deeps.x.io/default/broken"));
}

/* The content of a namespace that cannot be read is deleted, too. */
static void test_namespace_itself(void **state)
{
    struct api_controlled *fixture = *state;
    struct api *api = &fixture->api;
    assert_int_equal(
        api_post(api, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"shop\"}}").status, 201);
    assert_int_equal(api_post(api, "/api/v1/namespaces/shop/pods", POD_X).status, 201);
    store_broken(api, kind("", "namespaces"), "", "shop", GARBAGE);
    struct answer answer =
        api_post(api, "/api/v1/namespaces/shop/configmaps", "{\"metadata\":{\"name\":\"c\"}}");
    assert_int_equal(answer.status, 500);
    assert_non_null(strstr(answer_message(&answer), "namespaces \"shop\" cannot be read"));
    assert_int_equal(api_delete(api, "/api/v1/namespaces/shop", NULL).status, 200);
    api_run(api, SETTLE_MS);
    assert_int_equal(api_get(api, "/api/v1/namespaces/shop").status, 404);
    assert_int_equal(api_get(api, "/api/v1/namespaces/shop/pods/x").status, 404);
}

#define SERVICES "/api/v1/namespaces/default/services/"

/* Objects that the server creates at every start are created again, or removed so that a node can
 * create them. */
static void test_default_objects_are_created_again(void **state)
{
    static const struct {
        const char *group, *plural, *namespace_, *name, *path;
    } rows[] = {
        {"rbac.authorization.k8s.io", "clusterroles", "", "cluster-admin",
         "/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin"},
        {"rbac.authorization.k8s.io", "clusterrolebindings", "", "cluster-admin",
         "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/cluster-admin"},
        {"", "namespaces", "", "default", "/api/v1/namespaces/default"},
        {"", "serviceaccounts", "default", "default",
         "/api/v1/namespaces/default/serviceaccounts/default"},
        {"", "configmaps", "default", "kube-root-ca.crt",
         "/api/v1/namespaces/default/configmaps/kube-root-ca.crt"},
    };
    for (enum damage damage = 0; damage < DAMAGES; damage++) {
        struct api api;
        api_open_with_ca(&api, 1, "ca");
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
            store_broken(&api, kind(rows[i].group, rows[i].plural), rows[i].namespace_,
                         rows[i].name, damage);
        store_broken(&api, kind("", "services"), "default", "kubernetes", damage);
        store_broken(&api, kind("", "services"), "default", "kubernetes-other", damage);
        api_restart(&api, "ca");
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
            assert_int_equal(api_get(&api, rows[i].path).status, 200);
        assert_int_equal(api_get(&api, SERVICES "kubernetes").status, 404);
        assert_int_equal(api_get(&api, SERVICES "kubernetes-other").status, 500);
        assert_int_equal(api_post(&api, PODS, POD_X).status, 201);
        api_close(&api);
    }
}

/* Quotas, ranges and classes that cannot be read reject no pod; the client is warned. */
static void test_policies(void **state)
{
    struct api *api = *state;
    store_broken(api, kind("", "limitranges"), "default", "broken", TOO_DEEP);
    struct answer answer = api_post(api, PODS, POD_X);
    assert_int_equal(answer.status, 201);
    assert_non_null(strstr(answer.warning, "limitranges"));
    assert_int_equal(api_delete(api, "/api/v1/namespaces/default/limitranges/broken", NULL).status,
                     200);
    store_broken(api, kind("", "resourcequotas"), "default", "broken", TOO_DEEP);
    answer =
        api_post(api, "/api/v1/namespaces/default/configmaps", "{\"metadata\":{\"name\":\"c\"}}");
    assert_int_equal(answer.status, 201);
    assert_non_null(strstr(answer.warning, "resourcequotas"));
}

/* An object whose owner cannot be read stays, because the owner may exist. */
static void test_garbage(void **state)
{
    struct api_controlled *fixture = *state;
    struct api *api = &fixture->api;
    struct answer owner = api_post(api, "/api/v1/namespaces/default/configmaps",
                                   "{\"metadata\":{\"name\":\"owner\"}}");
    const char *body = arena_printf(
        api->arena,
        "{\"metadata\":{\"name\":\"child\",\"ownerReferences\":[{\"apiVersion\":\"v1\","
        "\"kind\":\"ConfigMap\",\"name\":\"owner\",\"uid\":\"%s\"}]}}",
        answer_at(api, &owner, "metadata.uid"));
    store_broken(api, kind("", "configmaps"), "default", "owner", GARBAGE);
    engine_controllers_free(fixture->controllers);
    api_restart(api, NULL);
    fixture->controllers = engine_controllers_new(api->loop, api->transport, SERVED_KINDS);
    assert_int_equal(api_post(api, "/api/v1/namespaces/default/secrets", body).status, 201);
    api_run(api, SETTLE_MS);
    assert_int_equal(api_get(api, "/api/v1/namespaces/default/secrets/child").status, 200);
    assert_int_equal(api_delete(api, "/api/v1/namespaces/default/configmaps/owner", NULL).status,
                     200);
    api_run(api, 10 * SETTLE_MS);
    assert_int_equal(api_get(api, "/api/v1/namespaces/default/secrets/child").status, 404);
}

/* ---- Deleting -------------------------------------------------------------------------------- */

static void test_delete_options(void **state)
{
    struct api *api = *state;
    store_broken(api, kind("", "pods"), "default", "broken", TOO_DEEP);
    assert_int_equal(api_delete(api, PODS "/broken", "{\"preconditions\":{\"uid\":\"u\"}}").status,
                     409);
    assert_int_equal(api_delete(api, PODS "/broken?dryRun=All", NULL).status, 200);
    struct answer answer = api_post(api, PODS,
                                    "{\"metadata\":{\"name\":\"broken\"},\"spec\":{\"containers\":"
                                    "[{\"name\":\"main\",\"image\":\"busybox\"}]}}");
    assert_int_equal(answer.status, 409);
    assert_non_null(strstr(answer_message(&answer), "kubectl delete"));
    assert_int_equal(api_get(api, PODS "/broken").status, 500);
    /* A deletion with a selector does not delete unreadable objects. */
    answer = api_delete(api, PODS "?labelSelector=a%3Db", NULL);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.warning, "broken"));
    assert_int_equal(api_get(api, PODS "/broken").status, 500);
    assert_int_equal(api_delete(api, PODS, NULL).status, 200);
    assert_int_equal(api_get(api, PODS "/broken").status, 404);
}

/* The log names all objects, the response a few. */
static void test_many_unreadable_objects(void **state)
{
    struct api *api = *state;
    for (int i = 0; i < 20; i++)
        store_broken(api, kind("", "pods"), "default", arena_printf(api->arena, "broken-%d", i),
                     (enum damage)(i % DAMAGES));
    assert_int_equal(api_post(api, PODS, POD_X).status, 201);
    struct answer answer = api_get(api, PODS "?limit=1");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_at(api, &answer, "items.0.metadata.name"), "x");
    assert_string_equal(answer_at(api, &answer, "metadata.continue"), "");
}

static char *captured(FILE *file)
{
    char *text = mem_zalloc(1 << 16);
    rewind(file);
    size_t size = fread(text, 1, (1 << 16) - 1, file);
    text[size] = '\0';
    return text;
}

/* The log names each object once, however often it is read. */
static void test_log(void **state)
{
    struct api *api = *state;
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    store_broken(api, kind("", "pods"), "default", "broken", TOO_DEEP);
    for (int i = 0; i < 3; i++) {
        api_get(api, PODS);
        api_get(api, PODS "?labelSelector=a");
        api_get(api, PODS "/broken");
    }
    dup2(saved, STDERR_FILENO);
    close(saved);
    _cleanup_free_ char *text = captured(file);
    fclose(file);
    const char *line = strstr(text, "default/broken");
    assert_non_null(line);
    assert_non_null(strstr(line, "nested more than 128 levels deep"));
    assert_non_null(strstr(line, "kubectl delete"));
    assert_null(strstr(strchr(line, '\n'), "default/broken"));
}

#define WITH_CONTROLLERS(test)                                                                     \
    cmocka_unit_test_setup_teardown(test, api_controlled_setup, api_controlled_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),
        WITH_CONTROLLERS(test_deleted_with_its_namespace),
        WITH_CONTROLLERS(test_namespace_itself),
        cmocka_unit_test(test_default_objects_are_created_again),
        cmocka_unit_test_setup_teardown(test_policies, api_setup, api_teardown),
        WITH_CONTROLLERS(test_garbage),
        cmocka_unit_test_setup_teardown(test_delete_options, api_setup, api_teardown),
        cmocka_unit_test_setup_teardown(test_many_unreadable_objects, api_setup, api_teardown),
        cmocka_unit_test_setup_teardown(test_log, api_setup, api_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
