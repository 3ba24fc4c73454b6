/* How a claim gets its volume, step by step. */
#include "engine/claim_binder.h"

#include "kube/object.h"
#include "kube/patch.h"
#include "tree.h"

#define CLAIM                                                                                      \
    "{\"metadata\":{\"name\":\"c\",\"namespace\":\"d\",\"uid\":\"u\"},\"spec\":{"                  \
    "\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}},"     \
    "\"status\":{\"phase\":\"Pending\"}}"

static void test_made_for_it(void **state)
{
    struct json *claim = tree(CLAIM), *patch;
    assert_string_equal(claim_volume_name(arena, claim), "pvc-u");
    assert_int_equal(claim_next_step(arena, claim, NULL, NULL, &patch), CLAIM_MAKE_VOLUME);
    struct json *volume = claim_make_volume(arena, claim, NULL);
    assert_string_equal(kube_meta_annotation(volume, "trainyard.dev/volume"), "d/c");
    assert_int_equal(claim_next_step(arena, claim, NULL, volume, &patch), CLAIM_PATCH_CLAIM);
    claim = kube_patch_merge(arena, claim, patch);
    assert_true(claim_owns_volume(claim));
    assert_int_equal(claim_next_step(arena, claim, NULL, volume, &patch),
                     CLAIM_PATCH_VOLUME_STATUS);
    volume = kube_patch_merge(arena, volume, patch);
    assert_int_equal(claim_next_step(arena, claim, NULL, volume, &patch), CLAIM_PATCH_STATUS);
    claim = kube_patch_merge(arena, claim, patch);
    assert_string_equal(json_get_string(json_at(claim, "status", "capacity", NULL), "storage", ""),
                        "1Gi");
    assert_int_equal(claim_next_step(arena, claim, NULL, volume, &patch), CLAIM_DONE);
}

static void test_made_by_hand(void **state)
{
    struct json *patch;
    struct json *claim =
        kube_patch_merge(arena, tree(CLAIM), tree("{\"spec\":{\"volumeName\":\"v\"}}"));
    assert_false(claim_owns_volume(claim));
    assert_int_equal(claim_next_step(arena, claim, NULL, NULL, &patch), CLAIM_WAIT);
    struct json *volume = tree("{\"metadata\":{\"name\":\"v\"},\"spec\":{\"capacity\":{\"storage\":"
                               "\"2Gi\"}}}");
    assert_int_equal(claim_next_step(arena, claim, NULL, volume, &patch), CLAIM_PATCH_VOLUME);
    volume = kube_patch_merge(arena, volume, patch);
    assert_int_equal(claim_next_step(arena, claim, NULL, volume, &patch),
                     CLAIM_PATCH_VOLUME_STATUS);
    /* Another claim comes too late. */
    struct json *other = kube_patch_merge(arena, claim, tree("{\"metadata\":{\"uid\":\"other\"}}"));
    assert_int_equal(claim_next_step(arena, other, NULL, volume, &patch), CLAIM_WAIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_for_it),
        cmocka_unit_test(test_made_by_hand),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
