/* Tests the paths and names made from a resource. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kube/resource.h"

static void makes_paths(void **state)
{
    static const struct {
        const struct kube_resource *resource;
        const char *namespace_, *name, *subresource, *path;
    } CASES[] = {
        {&KUBE_PODS, NULL, NULL, NULL, "/api/v1/pods"},
        {&KUBE_PODS, "", NULL, NULL, "/api/v1/pods"},
        {&KUBE_PODS, "a", NULL, NULL, "/api/v1/namespaces/a/pods"},
        {&KUBE_PODS, "a", "p", NULL, "/api/v1/namespaces/a/pods/p"},
        {&KUBE_PODS, "a", "p", "status", "/api/v1/namespaces/a/pods/p/status"},
        {&KUBE_NODES, "ignored", "n", NULL, "/api/v1/nodes/n"},
        {&KUBE_JOBS, "a", "j", "status", "/apis/batch/v1/namespaces/a/jobs/j/status"},
        {&KUBE_JOBS, NULL, NULL, NULL, "/apis/batch/v1/jobs"},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        assert_string_equal(kube_resource_path(arena, CASES[i].resource, CASES[i].namespace_,
                                               CASES[i].name, CASES[i].subresource),
                            CASES[i].path);
}

static void names_resources(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    assert_string_equal(kube_resource_api_version(arena, &KUBE_PODS), "v1");
    assert_string_equal(kube_resource_api_version(arena, &KUBE_JOBS), "batch/v1");
    assert_string_equal(kube_resource_text(arena, &KUBE_PODS), "pods");
    assert_string_equal(kube_resource_text(arena, &KUBE_JOBS), "jobs.batch");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_paths),
        cmocka_unit_test(names_resources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
