/* Tests the registry: rows of custom resources beside the built-in ones, versions in Kubernetes'
 * order, and referenced rows that outlive their definition. */
#include "engine/kinds/registry.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static struct registry_definition *make_definition(const char *group, const char *plural,
                                                   const char *const *versions, size_t count)
{
    struct arena *scratch = arena_new();
    struct registry_definition *made =
        registry_definition_new(arena_printf(scratch, "%s.%s", plural, group), count);
    for (size_t i = 0; i < count; i++) {
        struct kube_kind *row = &made->rows[i];
        row->id = (struct kube_resource){.group = arena_strdup(made->arena, group),
                                         .version = arena_strdup(made->arena, versions[i]),
                                         .plural = arena_strdup(made->arena, plural),
                                         .kind = "Thing",
                                         .namespaced = true};
        row->storage = made->name;
        row->api_version = arena_printf(made->arena, "%s/%s", group, versions[i]);
    }
    arena_free(scratch);
    return made;
}

static void put(struct registry *registry, const char *group, const char *plural,
                const char *version)
{
    registry_put(registry, make_definition(group, plural, &version, 1));
}

static size_t count_rows(const struct registry *registry)
{
    size_t count = 0;
    while (registry_at(registry, count))
        count++;
    return count;
}

static void test_rows_are_added_and_removed(void **state)
{
    static const char *const versions[] = {"v1", "v1beta1"};
    struct registry *registry = registry_new(NULL, NULL);
    struct arena *arena = arena_new();
    size_t built_in = count_rows(registry);
    assert_non_null(registry_find(registry, "", "v1", "pods"));
    assert_null(registry_find(registry, "a.example", "v1", "things"));
    assert_false(registry_has_group_version(registry, "a.example", "v1"));

    registry_put(registry, make_definition("a.example", "things", versions, 2));
    put(registry, "b.example", "things", "v7");
    assert_int_equal(count_rows(registry), built_in + 3);
    assert_ptr_equal(registry_at(registry, 0), kube_kind_at(0));
    assert_string_equal(registry_find(registry, "a.example", "v1beta1", "things")->api_version,
                        "a.example/v1beta1");
    assert_string_equal(registry_find_kind(registry, "b.example/v7", "Thing")->id.plural, "things");
    assert_null(registry_find_kind(registry, "b.example/v8", "Thing"));

    put(registry, "a.example", "things", "v2"); /* replaces the first */
    assert_int_equal(count_rows(registry), built_in + 2);
    assert_null(registry_find(registry, "a.example", "v1", "things"));
    assert_non_null(registry_find(registry, "a.example", "v2", "things"));

    const char **groups = registry_groups(registry, arena);
    size_t count = 0;
    while (groups[count])
        count++;
    assert_string_equal(groups[count - 2], "a.example");
    assert_string_equal(groups[count - 1], "b.example");

    registry_remove(registry, "things.a.example");
    registry_remove(registry, "things.nowhere");
    assert_int_equal(count_rows(registry), built_in + 1);
    assert_null(registry_versions(registry, arena, "a.example")[0]);
    arena_free(arena);
    registry_free(registry);
}

/* A sanitizer reports a read of freed memory if the reference does not keep the row. */
static void test_referenced_rows_stay_valid(void **state)
{
    struct registry *registry = registry_new(NULL, NULL);
    struct arena *request = arena_new();
    put(registry, "a.example", "things", "v1");
    const struct kube_kind *row = registry_find(registry, "a.example", "v1", "things");
    registry_hold(request, row);
    const struct kube_kind *again = registry_ref(row);
    registry_remove(registry, "things.a.example");
    assert_null(registry_find(registry, "a.example", "v1", "things"));
    registry_free(registry);
    assert_string_equal(row->id.plural, "things");
    arena_free(request);
    assert_string_equal(again->api_version, "a.example/v1");
    assert_int_equal(again->definition->references, 1);
    registry_unref(again);

    /* Built-in kinds are never freed. */
    registry_unref(registry_ref(&KUBE_POD_KIND));
    registry_unref(NULL);
}

static void test_versions_in_order(void **state)
{
    /* The order in the documentation of Kubernetes, highest first. */
    static const char *const order[] = {"v10",     "v2",        "v1",        "v11beta2", "v10beta3",
                                        "v3beta1", "v12alpha1", "v11alpha2", "foo1",     "foo10"};
    for (size_t i = 0; i < ARRAY_SIZE(order); i++)
        for (size_t j = 0; j < ARRAY_SIZE(order); j++) {
            int compared = registry_version_compare(order[i], order[j]);
            if ((i < j && compared >= 0) || (i == j && compared != 0) || (i > j && compared <= 0))
                fail_msg("%s and %s: %d", order[i], order[j], compared);
        }
    struct registry *registry = registry_new(NULL, NULL);
    struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_SIZE(order); i++)
        put(registry, "a.example", arena_printf(arena, "things%zu", i),
            order[ARRAY_SIZE(order) - 1 - i]);
    const char **versions = registry_versions(registry, arena, "a.example");
    for (size_t i = 0; i < ARRAY_SIZE(order); i++)
        assert_string_equal(versions[i], order[i]);
    assert_null(versions[ARRAY_SIZE(order)]);
    arena_free(arena);
    registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_added_and_removed),
        cmocka_unit_test(test_referenced_rows_stay_valid),
        cmocka_unit_test(test_versions_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
