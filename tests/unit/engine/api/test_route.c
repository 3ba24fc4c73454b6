/* Tests how paths and methods map to routes. */
#include "base/str.h"
#include "engine/api/route.h"
#include "served_kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct row {
    const char *method, *path, *query;
    int result;         /* 0 or a negative code */
    const char *plural; /* plural name of the resource */
    const char *text;   /* "verb namespace/name" */
    enum kube_subresource_id sub;
    const char *rest; /* the path after a proxy; NULL: "" */
};

static const struct row ROWS[] = {
    {"GET", "/api/v1/pods", "", 0, "pods", "list /-"},
    {"GET", "/api/v1/pods", "watch=true", 0, "pods", "watch /-"},
    {"GET", "/api/v1/pods", "watch=1", 0, "pods", "watch /-"},
    {"GET", "/api/v1/pods", "watch=True", 0, "pods", "watch /-"}, /* as Python clients write it */
    {"GET", "/api/v1/pods", "watch=false", 0, "pods", "list /-"},
    {"GET", "/api/v1/namespaces/a/pods", "", 0, "pods", "list a/-"},
    {"POST", "/api/v1/namespaces/a/pods", "", 0, "pods", "create a/-"},
    {"DELETE", "/api/v1/namespaces/a/pods", "", 0, "pods", "deletecollection a/-"},
    {"GET", "/api/v1/namespaces/a/pods/b", "", 0, "pods", "get a/b"},
    {"PUT", "/api/v1/namespaces/a/pods/b", "", 0, "pods", "update a/b"},
    {"PATCH", "/api/v1/namespaces/a/pods/b", "", 0, "pods", "patch a/b"},
    {"DELETE", "/api/v1/namespaces/a/pods/b", "", 0, "pods", "delete a/b"},
    {"GET", "/api/v1/namespaces/a/pods/b/log", "", 0, "pods", "get a/b", SUB_LOG},
    {"PUT", "/api/v1/namespaces/a/pods/b/status", "", 0, "pods", "update a/b", SUB_STATUS},
    {"POST", "/api/v1/namespaces/a/pods/b/binding", "", 0, "pods", "create a/b", SUB_BINDING},
    {"GET", "/api/v1/namespaces", "", 0, "namespaces", "list /-"},
    {"GET", "/api/v1/namespaces/a", "", 0, "namespaces", "get /a"},
    {"PUT", "/api/v1/namespaces/a/finalize", "", 0, "namespaces", "update /a", SUB_FINALIZE},
    {"GET", "/api/v1/nodes/n", "", 0, "nodes", "get /n"},
    {"GET", "/apis/kubeflow.org/v1/tfjobs", "", 0, "tfjobs", "list /-"},
    {"GET", "/apis/kubeflow.org/v1/namespaces/a/tfjobs/j/status", "", 0, "tfjobs", "get a/j",
     SUB_STATUS},
    /* The path after a proxy belongs to another server. */
    {"GET", "/api/v1/namespaces/a/pods/b/proxy", "", 0, "pods", "get a/b", SUB_PROXY, ""},
    {"HEAD", "/api/v1/namespaces/a/services/http:b:80/proxy//x/..//y/", "", 0, "services",
     "get a/http:b:80", SUB_PROXY, "//x/..//y/"},
    {"DELETE", "/api/v1/nodes/b/proxy/1/2/3/4/5/6/7/8/9", "", 0, "nodes", "delete /b", SUB_PROXY,
     "/1/2/3/4/5/6/7/8/9"},
    {"POST", "/api/v1/namespaces/a/pods/proxy/proxy/proxy", "", 0, "pods", "create a/proxy",
     SUB_PROXY, "/proxy"},
    {"GET", "/api/v1/namespaces/a/pods/proxy", "", 0, "pods", "get a/proxy"},
    /* Not found. */
    {"GET", "/api/v1/namespaces/a/pods/b/proxyx", "", -ERR_NOT_FOUND},
    {"GET", "/api/v1/namespaces/a/pods//proxy/x", "", -ERR_NOT_FOUND},
    {"GET", "/api/v1/namespaces//pods/b/proxy/x", "", -ERR_NOT_FOUND},
    {"GET", "/api/v1/pods/b/proxy/x", "", -ERR_NOT_FOUND},
    {"GET", "/apis/apps/v1/namespaces/a/deployments/b/proxy/x", "", -ERR_NOT_FOUND},
    {"HEAD", "/api/v1/namespaces/a/pods/b", "", -ERR_METHOD},
    {"GET", "/", "", -ERR_NOT_FOUND},
    {"GET", "", "", -ERR_NOT_FOUND},
    {"GET", "/api/v1/cats", "", -ERR_NOT_FOUND},
    {"GET", "/api/v2/pods", "", -ERR_NOT_FOUND},
    {"GET", "/api/v1//pods", "", -ERR_NOT_FOUND},
    {"GET", "/api/v1/pods/", "", -ERR_NOT_FOUND},
    {"GET", "/api/v1/pods/b", "", -ERR_NOT_FOUND},
    {"GET", "/api/v1/namespaces/a/nodes", "", -ERR_NOT_FOUND},
    {"GET", "/api/v1/namespaces/a/pods/b/cats", "", -ERR_NOT_FOUND},
    {"POST", "/apis/apps/v1/namespaces/a/daemonsets", "", -ERR_NOT_FOUND},
    {"GET", "/api/v1/namespaces/a/cats", "", -ERR_NOT_FOUND},
    {"POST", "/api/v1/namespaces/a/pods/b/ephemeralcontainers", "", -ERR_UNSUPPORTED},
    {"PUT", "/apis/batch/v1/namespaces/a/jobs/b/scale", "", -ERR_NOT_FOUND},
    {"GET", "/api/v1/namespaces/a/pods/b/log/x", "", -ERR_NOT_FOUND},
    {"GET", "/apis/kubeflow.org/v1/pods", "", -ERR_NOT_FOUND},
    {"GET", "/api/v1/namespaces/a/pods/b/log/x/y/z", "", -ERR_NOT_FOUND},
    /* The resource exists, but not with this verb. */
    {"POST", "/api/v1/pods", "", -ERR_METHOD},
    {"DELETE", "/api/v1/pods", "", -ERR_METHOD},
    {"DELETE", "/api/v1/namespaces", "", -ERR_METHOD},
    {"PUT", "/api/v1/namespaces/a/pods", "", -ERR_METHOD},
    {"POST", "/api/v1/namespaces/a/pods/b", "", -ERR_METHOD},
    {"DELETE", "/api/v1/namespaces/a/pods/b/status", "", -ERR_METHOD},
    {"POST", "/api/v1/namespaces/a/pods/b/log", "", -ERR_METHOD},
    {"TRACE", "/api/v1/namespaces/a/pods/b", "", -ERR_METHOD},
    {"DELETE", "/apis/kubeflow.org/v1/namespaces/a/tfjobs/b/scale", "", -ERR_METHOD},
};

static void test_rows(void **state)
{
    struct arena *arena = arena_new();
    struct registry *registry = registry_new(SERVED_KINDS, NULL);
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        const struct row *row = &ROWS[i];
        struct route route;
        struct err err = ERR_INIT;
        int r = route_parse(arena, registry, row->method, row->path, row->query, &route, &err);
        if (r != row->result)
            fail_msg("%s %s: %d, not %d", row->method, row->path, r, row->result);
        if (r < 0)
            continue;
        assert_string_equal(route.resource->id.plural, row->plural);
        assert_string_equal(arena_printf(arena, "%s %s/%s", kube_verb_name(route.verb),
                                         route.namespace_, route.name ? route.name : "-"),
                            row->text);
        assert_int_equal(route.sub, row->sub);
        assert_string_equal(route.rest, row->rest ? row->rest : "");
    }
    registry_free(registry);
    arena_free(arena);
}

static void test_long_segment(void **state)
{
    struct arena *arena = arena_new();
    struct registry *registry = registry_new(SERVED_KINDS, NULL);
    /* At the limit, and one above it. */
    for (size_t size = ROUTE_SEGMENT_MAX; size <= ROUTE_SEGMENT_MAX + 1; size++) {
        char name[ROUTE_SEGMENT_MAX + 2] = "";
        memset(name, 'a', size);
        struct route route;
        const char *path = arena_printf(arena, "/api/v1/nodes/%s", name);
        assert_int_equal(route_parse(arena, registry, "GET", path, "", &route, NULL),
                         size > ROUTE_SEGMENT_MAX ? -ERR_NOT_FOUND : 0);
    }
    registry_free(registry);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_long_segment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
