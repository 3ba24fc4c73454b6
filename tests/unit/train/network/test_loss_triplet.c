/* Tests the triplet loss: its gradient against finite differences in double, mining against a slow
 * search, and degenerate batches. */
#include "random_floats.h"

#include "train/network/loss_triplet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { N = 12, MANY = 150 /* more than are compared at once */, DIM = 11 };

static double distance(const double *x, int i, int j)
{
    double sum = 0;
    for (int k = 0; k < DIM; k++)
        sum += (x[i * DIM + k] - x[j * DIM + k]) * (x[i * DIM + k] - x[j * DIM + k]);
    return sum;
}

/* The definition in the header, in double and without optimizations. */
static double slow_loss(const struct triplet_config *config, const double *x, const int *labels,
                        int n)
{
    double total = 0;
    int count = 0;
    for (int a = 0; a < n; a++) {
        double farthest_positive = -1, nearest_negative = 1e9, farthest_negative = -1;
        for (int k = 0; k < n; k++) {
            double d = distance(x, a, k);
            if (labels[k] != labels[a]) {
                nearest_negative = fmin(nearest_negative, d);
                farthest_negative = fmax(farthest_negative, d);
            } else if (k != a) {
                farthest_positive = fmax(farthest_positive, d);
            }
        }
        if (config->mining == TRIPLET_BATCH_HARD) {
            total += fmax(sqrt(farthest_positive + 1e-8) - sqrt(nearest_negative + 1e-8) +
                              (double)config->margin,
                          0);
            count++;
            continue;
        }
        for (int p = 0; p < n; p++) {
            if (p == a || labels[p] != labels[a])
                continue;
            double negative = 1e9;
            for (int k = 0; k < n; k++)
                if (labels[k] != labels[a] && distance(x, a, k) > distance(x, a, p))
                    negative = fmin(negative, distance(x, a, k));
            if (negative > 1e8)
                negative = farthest_negative;
            total += fmax(distance(x, a, p) - negative + (double)config->margin, 0);
            count++;
        }
    }
    return total / count;
}

static void check_gradient(enum triplet_mining mining, uint64_t seed)
{
    struct rand rand;
    rand_init(&rand, seed);
    int labels[N];
    float *x = random_floats(&rand, N * DIM), d[N * DIM];
    double exact[N * DIM];
    for (int i = 0; i < N; i++)
        labels[i] = i / 3;
    for (int i = 0; i < N * DIM; i++) {
        x[i] *= 0.3f;
        exact[i] = (double)x[i];
    }
    struct triplet_config config = {.mining = mining, .margin = 0.4f};
    struct triplet_result result = loss_triplet(&config, x, labels, N, DIM, d);
    assert_true(fabs(result.loss - slow_loss(&config, exact, labels, N)) < 1e-5);
    assert_int_equal(result.triplets, mining == TRIPLET_BATCH_HARD ? N : N * 2);
    assert_true(result.active > 0 && result.active <= result.triplets);
    for (int i = 0; i < N * DIM; i++) {
        double kept = exact[i], step = 1e-6;
        exact[i] = kept + step;
        double up = slow_loss(&config, exact, labels, N);
        exact[i] = kept - step;
        double down = slow_loss(&config, exact, labels, N);
        exact[i] = kept;
        assert_true(fabs((up - down) / (2 * step) - (double)d[i]) < 1e-4);
    }
    free(x);
}

static void gradient_agrees_with_finite_differences(void **state)
{
    for (uint64_t seed = 0; seed < 5; seed++) {
        check_gradient(TRIPLET_SEMI_HARD, seed);
        check_gradient(TRIPLET_BATCH_HARD, seed);
    }
}

static void large_batches_are_mined_completely(void **state)
{
    struct rand rand;
    rand_init(&rand, 7);
    int labels[MANY];
    float *x = random_floats(&rand, MANY * DIM), *d = random_floats(&rand, MANY * DIM);
    double exact[MANY * DIM];
    for (int i = 0; i < MANY; i++)
        labels[i] = i % (MANY / 3); /* the pictures of one person are far apart in the batch */
    for (int i = 0; i < MANY * DIM; i++)
        exact[i] = (double)x[i];
    for (int mining = 0; mining < 2; mining++) {
        struct triplet_config config = {.mining = (enum triplet_mining)mining, .margin = 0.4f};
        struct triplet_result result = loss_triplet(&config, x, labels, MANY, DIM, d);
        assert_true(fabs(result.loss - slow_loss(&config, exact, labels, MANY)) < 1e-5);
    }
    free(x);
    free(d);
}

static void nan_input_gives_a_loss_that_is_not_finite(void **state)
{
    struct triplet_config config = {.margin = 0.2f};
    for (int mining = 0; mining < 2; mining++) {
        float x[] = {1, 0, NAN, 1, 1, 0, 0, 1}, d[8];
        config.mining = (enum triplet_mining)mining;
        struct triplet_result result = loss_triplet(&config, x, (const int[]){1, 1, 2, 2}, 4, 2, d);
        assert_false(isfinite(result.loss));
    }
}

static void batch_without_triplets_has_no_loss(void **state)
{
    struct triplet_config config = {.margin = 0.2f};
    float x[] = {1, 0, 0, 1, 1, 0}, d[6] = {9, 9, 9, 9, 9, 9};
    for (int mining = 0; mining < 2; mining++) {
        config.mining = (enum triplet_mining)mining;
        struct triplet_result result =
            loss_triplet(&config, x, (const int[]){1, 1, 1}, 3, 2, d); /* one person */
        assert_int_equal(result.triplets, 0);
        result = loss_triplet(&config, x, (const int[]){1, 2, 3}, 3, 2, d); /* no pair */
        assert_int_equal(result.triplets, 0);
        assert_true(result.loss == 0);
        for (int i = 0; i < 6; i++)
            assert_true(d[i] == 0);
    }
}

static void well_separated_persons_have_no_gradient(void **state)
{
    struct triplet_config config = {.mining = TRIPLET_BATCH_HARD, .margin = 0.5f};
    float x[] = {1, 0, 1, 0, 0, 1, 0, 1}, d[8];
    struct triplet_result result = loss_triplet(&config, x, (const int[]){4, 4, 7, 7}, 4, 2, d);
    assert_int_equal(result.triplets, 4);
    assert_int_equal(result.active, 0);
    assert_true(result.loss == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_agrees_with_finite_differences),
        cmocka_unit_test(large_batches_are_mined_completely),
        cmocka_unit_test(nan_input_gives_a_loss_that_is_not_finite),
        cmocka_unit_test(batch_without_triplets_has_no_loss),
        cmocka_unit_test(well_separated_persons_have_no_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
