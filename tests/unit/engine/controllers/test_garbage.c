/* Tests the decisions of the garbage collector. */
#include "engine/controllers/garbage.h"

#include "base/mem.h"
#include "tree.h"

#define LEAVING "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\""

static void test_collectable(void **state)
{
    static const struct {
        enum garbage_owner owners[2];
        size_t count;
        bool collectable;
    } rows[] = {
        {{0}, 0, false},
        {{OWNER_GONE}, 1, true},
        {{OWNER_WAITING}, 1, true},
        {{OWNER_SOLID}, 1, false},
        {{OWNER_UNKNOWN}, 1, false},
        {{OWNER_GONE, OWNER_WAITING}, 2, true},
        {{OWNER_GONE, OWNER_SOLID}, 2, false},
        {{OWNER_UNKNOWN, OWNER_GONE}, 2, false},
    };
    const struct json *object = tree("{\"metadata\":{}}");
    const struct json *leaving = tree("{\"metadata\":{" LEAVING "}}");
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        assert_int_equal(garbage_is_collectable(object, rows[i].owners, rows[i].count),
                         rows[i].collectable);
        assert_false(garbage_is_collectable(leaving, rows[i].owners, rows[i].count));
    }
}

static void test_duty_towards_dependents(void **state)
{
    assert_int_equal(
        garbage_duty_of(tree("{\"metadata\":{\"finalizers\":[\"foregroundDeletion\"]}}")),
        DUTY_NONE);
    assert_int_equal(garbage_duty_of(tree("{\"metadata\":{" LEAVING
                                          ",\"finalizers\":[\"foregroundDeletion\"]}}")),
                     DUTY_DELETE_DEPENDENTS);
    assert_int_equal(
        garbage_duty_of(tree("{\"metadata\":{" LEAVING ",\"finalizers\":[\"orphan\"]}}")),
        DUTY_ORPHAN_DEPENDENTS);
}

static void test_patches(void **state)
{
    struct json *object =
        tree("{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"7\",\"finalizers\":[\"a\","
             "\"orphan\"],\"ownerReferences\":[{\"uid\":\"o1\",\"blockOwnerDeletion\":true},"
             "{\"uid\":\"o2\"}]}}");
    assert_true(garbage_blocks(object, "o1"));
    assert_false(garbage_blocks(object, "o2"));
    assert_false(garbage_blocks(object, "o3"));
    assert_string_equal(json_to_string(arena, garbage_orphan_patch(arena, object, "o1")),
                        "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"o2\"}],"
                        "\"resourceVersion\":\"7\",\"uid\":\"u\"}}");
    assert_string_equal(json_to_string(arena, garbage_finalizer_patch(arena, object, "orphan")),
                        "{\"metadata\":{\"finalizers\":[\"a\"],\"resourceVersion\":\"7\","
                        "\"uid\":\"u\"}}");
    assert_null(garbage_finalizer_patch(arena, object, "foregroundDeletion"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collectable),
        cmocka_unit_test(test_duty_towards_dependents),
        cmocka_unit_test(test_patches),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
