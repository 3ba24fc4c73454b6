/* Tests the metadata of objects: reading where it is missing, and changing it without other
 * effects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kube/condition.h"
#include "kube/object.h"
#include "read_json.h"

static void missing_metadata_has_defaults(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json *cases[] = {NULL, read_json(arena, "{}"), read_json(arena, "[]"),
                                  read_json(arena, "{'metadata': 5}"),
                                  read_json(arena, "{'metadata': {'name': 7, 'labels': 'x'}}")};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_string_equal(kube_meta_name(cases[i]), "");
        assert_string_equal(kube_meta_namespace(cases[i]), "");
        assert_string_equal(kube_meta_uid(cases[i]), "");
        assert_string_equal(kube_meta_resource_version(cases[i]), "");
        assert_int_equal(kube_meta_generation(cases[i]), 0);
        assert_int_equal(kube_meta_created_ms(cases[i]), 0);
        assert_false(kube_meta_is_deleting(cases[i]));
        assert_null(kube_meta_label(cases[i], "a"));
        assert_null(kube_meta_annotation(cases[i], "a"));
        assert_null(kube_meta_controller(cases[i]));
        assert_false(kube_meta_is_controlled_by(cases[i], ""));
        assert_false(kube_meta_has_finalizer(cases[i], "a"));
        assert_null(kube_condition_get(cases[i], "Ready"));
    }
}

static void metadata_is_read(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *pod = read_json(
        arena, "{'metadata': {'name': 'p', 'namespace': 'n', 'uid': 'u', 'resourceVersion': '12',"
               "'generation': 3, 'creationTimestamp': '1970-01-01T00:00:05Z',"
               "'deletionTimestamp': '1970-01-01T00:01:00Z', 'labels': {'a': 'b'},"
               "'annotations': {'c': 'd'}, 'finalizers': ['f'], 'ownerReferences': ["
               "{'uid': 'o1'}, {'uid': 'o2', 'controller': true}]},"
               "'status': {'conditions': [{'type': 'Ready', 'status': 'True'}]}}");
    assert_string_equal(kube_meta_name(pod), "p");
    assert_string_equal(kube_meta_namespace(pod), "n");
    assert_string_equal(kube_meta_uid(pod), "u");
    assert_string_equal(kube_meta_resource_version(pod), "12");
    assert_int_equal(kube_meta_generation(pod), 3);
    assert_int_equal(kube_meta_created_ms(pod), 5000);
    assert_int_equal(kube_meta_deleting_ms(pod), 60000);
    assert_true(kube_meta_is_deleting(pod));
    assert_string_equal(kube_meta_label(pod, "a"), "b");
    assert_string_equal(kube_meta_annotation(pod, "c"), "d");
    assert_true(kube_meta_has_finalizer(pod, "f"));
    assert_true(kube_meta_is_controlled_by(pod, "o2"));
    assert_false(kube_meta_is_controlled_by(pod, "o1"));
    assert_true(kube_meta_is_owned_by(pod, "o1"));
    assert_false(kube_meta_is_owned_by(pod, "o3"));
    assert_true(kube_condition_is_true(pod, "Ready"));
    assert_false(kube_condition_is_true(pod, "Done"));
}

static void metadata_is_changed_in_place(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *object = read_json(arena, "{'kind': 'Pod', 'extra': [1]}");
    kube_meta_set_name(arena, object, "p");
    kube_meta_set_label(arena, object, "a", "1");
    kube_meta_set_label(arena, object, "a", "2");
    kube_meta_set_annotation(arena, object, "gone", NULL);
    kube_meta_add_finalizer(arena, object, "f");
    kube_meta_add_finalizer(arena, object, "f");
    assert_string_equal(json_to_string(arena, object),
                        "{\"kind\":\"Pod\",\"extra\":[1],\"metadata\":{\"name\":\"p\","
                        "\"labels\":{\"a\":\"2\"},\"finalizers\":[\"f\"]}}");
    kube_meta_set_label(arena, object, "a", NULL);
    assert_true(kube_meta_remove_finalizer(object, "f"));
    assert_false(kube_meta_remove_finalizer(object, "f"));
    assert_string_equal(json_to_string(arena, object),
                        "{\"kind\":\"Pod\",\"extra\":[1],\"metadata\":{\"name\":\"p\"}}");
}

static void an_object_refers_to_its_owner(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *job = kube_object_make(arena, &KUBE_JOBS, "n", "j");
    json_set_string(arena, json_get(job, "metadata"), "uid", "u1");
    struct json *pod = kube_object_make(arena, &KUBE_PODS, "n", "p");
    kube_meta_add_owner(arena, pod, kube_owner_reference_new(arena, job, false));
    kube_meta_add_owner(arena, pod, kube_owner_reference_new(arena, job, true));
    assert_string_equal(
        json_to_string(arena, pod),
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"n\","
        "\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\","
        "\"name\":\"j\",\"uid\":\"u1\",\"controller\":true,\"blockOwnerDeletion\":true}]}}");
    assert_true(kube_meta_is_controlled_by(pod, "u1"));
}

static void the_kind_is_the_first_member(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *item = read_json(arena, "{'metadata': {'name': 'p'}, 'kind': ''}");
    kube_object_set_kind(arena, item, &KUBE_PODS);
    const char *expected = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"}}";
    assert_string_equal(json_to_string(arena, item), expected);
    kube_object_set_kind(arena, item, &KUBE_NODES);
    assert_string_equal(json_to_string(arena, item), expected);
    struct json *empty = read_json(arena, "{}");
    kube_object_set_kind(arena, empty, &KUBE_PODS);
    json_set_int(arena, empty, "last", 1);
    assert_string_equal(json_to_string(arena, empty),
                        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"last\":1}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_metadata_has_defaults),
        cmocka_unit_test(metadata_is_read),
        cmocka_unit_test(metadata_is_changed_in_place),
        cmocka_unit_test(an_object_refers_to_its_owner),
        cmocka_unit_test(the_kind_is_the_first_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
