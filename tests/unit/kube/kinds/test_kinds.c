/* Tests the list of built-in kinds: its rows are consistent, and lookups find them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "kube/kinds/kinds.h"

#include <string.h>

static void rows_are_complete(void **state)
{
    const struct kube_kind *kind;
    for (size_t i = 0; (kind = kube_kind_at(i)); i++) {
        assert_non_null(kind->schema);
        assert_non_null(kind->singular);
        assert_true(kind->verbs != 0);
        assert_null(kind->definition);
        assert_true(kube_kind_columns(kind)->count >= 2);
        for (size_t j = 0; j < i; j++)
            if (str_eq(kind->storage, kube_kind_at(j)->storage))
                fail_msg("'%s' stands in two rows", kind->storage);
    }
}

static void kinds_are_sorted_by_group(void **state)
{
    const struct kube_kind *kind, *before = kube_kind_at(0);
    for (size_t i = 1; (kind = kube_kind_at(i)); before = kind, i++) {
        int order = strcmp(before->id.group, kind->id.group);
        if (order == 0)
            order = strcmp(before->id.plural, kind->id.plural);
        if (order > 0 && !str_eq(kind->id.plural, "podgroups"))
            fail_msg("'%s' stands behind '%s'", kind->storage, before->storage);
    }
}

static void kinds_are_found(void **state)
{
    assert_ptr_equal(kube_kind_find("v1", "Pod"), &KUBE_POD_KIND);
    /* Two groups have the same kind and plural. */
    assert_ptr_equal(kube_kind_find("scheduling.x-k8s.io/v1alpha1", "PodGroup"),
                     &KUBE_PODGROUP_KIND);
    assert_ptr_equal(kube_kind_find("scheduling.volcano.sh/v1beta1", "PodGroup"),
                     &KUBE_VOLCANO_PODGROUP_KIND);
    assert_ptr_equal(kube_kind_find("coordination.k8s.io/v1", "Lease"), &KUBE_LEASE_KIND);
    assert_null(kube_kind_find("coordination.k8s.io/v2", "Lease"));
    assert_null(kube_kind_find("coordination.k8s.io", "Lease"));
    assert_null(kube_kind_find("v1", "Lease"));
    assert_null(kube_kind_find("kubeflow.org/v1", "TFJob"));
    assert_null(kube_kind_find("metrics.k8s.io/v1beta1", "PodMetrics")); /* not stored */
    assert_null(kube_kind_find(NULL, "Pod"));
    assert_null(kube_kind_find("v1", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(kinds_are_sorted_by_group),
        cmocka_unit_test(kinds_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
