/* Tests metrics of pairs and of scores against plain counting, and ties. */
#include "random_floats.h"

#include "train/network/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void auc_agrees_with_plain_counting(void **state)
{
    enum { COUNT = 300 };
    struct rand rand;
    rand_init(&rand, 1);
    struct metrics_pair pairs[COUNT];
    for (int i = 0; i < COUNT; i++) {
        bool same = rand_below(&rand, 3) == 0;
        /* coarse, so that there are ties */
        pairs[i] = (struct metrics_pair){(float)(rand_below(&rand, 20) + (same ? 0 : 6)), same};
    }
    double right = 0, all = 0;
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++)
            if (pairs[i].same && !pairs[j].same) {
                all++;
                right += pairs[i].distance < pairs[j].distance    ? 1
                         : pairs[i].distance == pairs[j].distance ? 0.5
                                                                  : 0;
            }
    struct metrics m = metrics_of_pairs(pairs, COUNT);
    assert_true(fabs(m.auc - right / all) < 1e-12);
    assert_int_equal(m.same + m.different, COUNT);
}

static void perfect_split_has_auc_one(void **state)
{
    struct metrics_pair pairs[] = {{3, false}, {1, true}, {0.5f, true}, {5, false}};
    struct metrics m = metrics_of_pairs(pairs, 4);
    assert_true(m.auc == 1 && m.accuracy == 1);
    assert_true(m.threshold == 2);
}

static void pairs_of_one_kind_have_auc_one_half(void **state)
{
    struct metrics_pair pairs[] = {{3, false}, {1, false}};
    struct metrics m = metrics_of_pairs(pairs, 2);
    assert_true(m.auc == 0.5 && m.accuracy == 0.5);
    m = metrics_of_pairs(pairs, 0);
    assert_true(m.auc == 0.5);
}

static void auc_of_scores_depends_on_their_order(void **state)
{
    const float scores[] = {0.9f, 0.1f, 0.5f, 0.5f, 0.2f};
    const bool positive[] = {true, false, true, false, true};
    /* six pairs: 0.9 wins two, 0.5 wins one and ties one, 0.2 wins one and loses one */
    assert_true(fabs(metrics_auc(scores, positive, 5) - 4.5 / 6) < 1e-12);
    assert_true(metrics_auc(scores, positive, 1) == 0.5);
}

static void metrics_of_vectors_use_all_pairs_and_the_nearest(void **state)
{
    const float vectors[] = {0, 0, 0, 1, 5, 0, 5, 1, 5, 5};
    const int labels[] = {1, 1, 2, 2, 1};
    struct metrics m = metrics_of_vectors(vectors, labels, 5, 2);
    assert_int_equal(m.same, 4);
    assert_int_equal(m.different, 6);
    assert_true(fabs(m.nearest - 0.8) <
                1e-12); /* the last vector is nearest to one with another label */
}

static void roc_curve_spans_both_corners(void **state)
{
    (void)state;
    struct metrics_pair pairs[] = {
        {0.4f, false}, {0.1f, true}, {0.3f, true}, {0.2f, false}, {0.3f, false}};
    struct metrics_point points[16];
    (void)metrics_of_pairs(pairs, 5); /* sorts */
    assert_int_equal(metrics_roc(pairs, 5, points, 16), 5);
    const double want[][2] = {{0, 0}, {0.5, 0}, {0.5, 1 / 3.0}, {1, 2 / 3.0}, {1, 1}};
    for (size_t i = 0; i < 5; i++) {
        assert_float_equal(points[i].same, want[i][0], 1e-9);
        assert_float_equal(points[i].different, want[i][1], 1e-9);
    }
    assert_float_equal(points[3].threshold, 0.3, 1e-6);
    assert_true(metrics_roc(pairs, 5, points, 3) <= 3);
    assert_float_equal(points[0].same, 0, 0);
    assert_int_equal(metrics_roc(pairs, 1, points, 16), 0); /* only one kind of pair */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auc_agrees_with_plain_counting),
        cmocka_unit_test(perfect_split_has_auc_one),
        cmocka_unit_test(pairs_of_one_kind_have_auc_one_half),
        cmocka_unit_test(auc_of_scores_depends_on_their_order),
        cmocka_unit_test(metrics_of_vectors_use_all_pairs_and_the_nearest),
        cmocka_unit_test(roc_curve_spans_both_corners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
