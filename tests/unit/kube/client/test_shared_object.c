/* Tests that similar objects share equal parts of their JSON, and that each stays intact when
 * others are freed. */
#include "kube/client/shared_object.h"

#include "base/rand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct json *pod(struct arena *arena, const char *name, const char *phase)
{
    struct json *json = NULL;
    const char *text = arena_printf(
        arena,
        "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"uid\":"
        "\"uid-%s\",\"labels\":{\"training.kubeflow.org/job-name\":\"mnist\"}},\"spec\":{"
        "\"containers\":[{\"name\":\"tensorflow\",\"image\":\"trainyard/trainer\"}],"
        "\"restartPolicy\":\"Never\",\"tolerations\":[{\"key\":\"a\"},{\"key\":\"b\"}]},"
        "\"status\":{\"phase\":\"%s\"}}",
        name, name, phase);
    assert_int_equal(json_parse(arena, text, strlen(text), NULL, &json, NULL), 0);
    return json;
}

static struct kube_object *add(struct kube_object_families *siblings, const char *name,
                               const char *phase)
{
    struct arena *arena = arena_new();
    struct kube_object *object = kube_object_families_add(siblings, pod(arena, name, phase));
    arena_free(arena);
    return object;
}

static void expect(const struct kube_object *object, const char *name, const char *phase)
{
    struct arena *arena = arena_new();
    assert_string_equal(json_to_string(arena, object->json),
                        json_to_string(arena, pod(arena, name, phase)));
    assert_string_equal(object->name, name);
    assert_string_equal(object->namespace_, "default");
    assert_string_equal(object->uid, arena_printf(arena, "uid-%s", name));
    arena_free(arena);
}

static void test_similar_objects_share_memory(void **state)
{
    struct kube_object_families siblings = {0};
    struct kube_object *first = add(&siblings, "mnist-worker-0", "Pending");
    struct kube_object *second = add(&siblings, "mnist-worker-1", "Pending");
    struct kube_object *third = add(&siblings, "mnist-worker-2", "Running");
    struct kube_object *other = add(&siblings, "mnist-ps-0", "Pending");
    assert_null(first->base);
    assert_ptr_equal(second->base, first);
    assert_ptr_equal(third->base, first);
    assert_ptr_equal(json_get(second->json, "spec"), json_get(first->json, "spec"));
    assert_true(arena_used(second->arena) < arena_used(first->arena) / 2);
    assert_null(other->base); /* belongs to another family */
    kube_object_unref(first);
    kube_object_families_drop_unused(&siblings);
    expect(second, "mnist-worker-1", "Pending");
    expect(third, "mnist-worker-2", "Running");
    expect(other, "mnist-ps-0", "Pending");
    kube_object_families_release(&siblings);
    expect(second, "mnist-worker-1", "Pending");
    kube_object_unref(second);
    kube_object_unref(third);
    kube_object_unref(other);
}

/* No memory is kept for a family that is gone. */
static void test_unused_families_are_freed(void **state)
{
    struct kube_object_families siblings = {0};
    struct kube_object *object = add(&siblings, "a-0", "Pending"), *kept = kube_object_ref(object);
    kube_object_unref(object);
    kube_object_families_drop_unused(&siblings);
    assert_int_equal(kept->references, 2);
    kube_object_unref(kept);
    kube_object_families_drop_unused(&siblings);
    for (size_t i = 0; i < KUBE_OBJECT_FAMILIES_MAX; i++)
        assert_null(siblings.bases[i]);
}

/* Objects that are not alike can have the same slot. The newest object is shared with. */
static void test_unrelated_objects_in_one_slot(void **state)
{
    struct kube_object_families siblings = {0};
    struct arena *arena = arena_new();
    struct json *json = NULL;
    static const char TEXT[] = "{\"metadata\":{\"name\":\"a-1\"},\"status\":{\"x\":\"y\"}}";
    assert_int_equal(json_parse(arena, TEXT, strlen(TEXT), NULL, &json, NULL), 0);
    struct kube_object *first = add(&siblings, "a-0", "Pending");
    json_set_string(arena, json_get(json, "metadata"), "namespace", "default");
    struct kube_object *second = kube_object_families_add(&siblings, json);
    assert_null(second->base);
    struct kube_object *third = kube_object_families_add(&siblings, json);
    assert_ptr_equal(third->base, second);
    assert_true(json_equal(third->json, json));
    assert_int_equal(first->references, 1);
    kube_object_unref(first);
    kube_object_unref(second);
    kube_object_unref(third);
    kube_object_families_release(&siblings);
    arena_free(arena);
}

/* Random changes of many objects, compared with copies that share nothing. */
static void test_random(void **state)
{
    enum { OBJECTS = 40 };
    static const char *const PHASES[] = {"Pending", "Running", "Succeeded"};
    struct kube_object_families siblings = {0};
    struct kube_object *objects[OBJECTS] = {NULL};
    const char *phases[OBJECTS] = {NULL};
    struct arena *arena = arena_new();
    struct rand rand;
    rand_init(&rand, 3);
    for (int round = 0; round < 4000; round++) {
        size_t i = rand_below(&rand, OBJECTS);
        const char *name = arena_printf(arena, "job%zu-worker-%zu", i % 3, i);
        kube_object_unref(objects[i]);
        objects[i] = NULL;
        if (rand_below(&rand, 4)) {
            phases[i] = PHASES[rand_below(&rand, 3)];
            objects[i] = add(&siblings, name, phases[i]);
        } else {
            kube_object_families_drop_unused(&siblings);
        }
        size_t k = rand_below(&rand, OBJECTS);
        if (objects[k])
            expect(objects[k], arena_printf(arena, "job%zu-worker-%zu", k % 3, k), phases[k]);
        if (round % 100 == 0)
            arena_reset(arena);
    }
    for (size_t i = 0; i < OBJECTS; i++)
        kube_object_unref(objects[i]);
    kube_object_families_release(&siblings);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_similar_objects_share_memory),
        cmocka_unit_test(test_unused_families_are_freed),
        cmocka_unit_test(test_unrelated_objects_in_one_slot),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
