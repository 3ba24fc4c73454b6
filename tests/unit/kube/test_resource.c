/* Paths and names made from a resource. */
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
        {&KUBE_TFJOBS, "a", "j", "status", "/apis/kubeflow.org/v1/namespaces/a/tfjobs/j/status"},
        {&KUBE_TFJOBS, NULL, NULL, NULL, "/apis/kubeflow.org/v1/tfjobs"},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        assert_string_equal(kube_resource_path(arena, CASES[i].resource, CASES[i].namespace_,
                                               CASES[i].name, CASES[i].subresource),
                            CASES[i].path);
}

static void names_them(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    assert_string_equal(kube_resource_api_version(arena, &KUBE_PODS), "v1");
    assert_string_equal(kube_resource_api_version(arena, &KUBE_TFJOBS), "kubeflow.org/v1");
    assert_string_equal(kube_resource_text(arena, &KUBE_PODS), "pods");
    assert_string_equal(kube_resource_text(arena, &KUBE_TFJOBS), "tfjobs.kubeflow.org");
}

static void finds_by_kind(void **state)
{
    assert_ptr_equal(kube_resource_find("v1", "Pod"), &KUBE_PODS);
    assert_ptr_equal(kube_resource_find("kubeflow.org/v1", "TFJob"), &KUBE_TFJOBS);
    assert_ptr_equal(kube_resource_find("kubeflow.org/v1", "PyTorchJob"), &KUBE_PYTORCHJOBS);
    /* One kind and plural, two groups. */
    assert_ptr_equal(kube_resource_find("scheduling.x-k8s.io/v1alpha1", "PodGroup"),
                     &KUBE_PODGROUPS);
    assert_ptr_equal(kube_resource_find("scheduling.volcano.sh/v1beta1", "PodGroup"),
                     &KUBE_VOLCANO_PODGROUPS);
    assert_ptr_equal(kube_resource_find("coordination.k8s.io/v1", "Lease"), &KUBE_LEASES);
    assert_null(kube_resource_find("kubeflow.org/v2", "TFJob"));
    assert_null(kube_resource_find("v1", "TFJob"));
    assert_null(kube_resource_find("kubeflow.org", "TFJob"));
    assert_null(kube_resource_find(NULL, "Pod"));
    assert_null(kube_resource_find("v1", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_paths),
        cmocka_unit_test(names_them),
        cmocka_unit_test(finds_by_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
