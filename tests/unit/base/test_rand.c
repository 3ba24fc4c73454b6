/* Tests random numbers: the same draws for a seed on every machine, unbiased draws, and names that
 * Kubernetes accepts. */
#include "base/rand.h"

#include "base/mem.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

/* A training run must draw the same numbers on every machine and in every version, so they are
 * fixed here. */
static void test_same_everywhere(void **state)
{
    struct rand rand;
    rand_init(&rand, 42);
    assert_true(rand_next(&rand) == UINT64_C(0x15780b2e0c2ec716));
    assert_true(rand_next(&rand) == UINT64_C(0x6104d9866d113a7e));
    struct rand a, b;
    rand_init_keyed(&a, 1, 2, 3);
    rand_init_keyed(&b, 1, 2, 3);
    for (int i = 0; i < 100; i++)
        assert_true(rand_next(&a) == rand_next(&b));
}

static void test_keys_differ(void **state)
{
    uint64_t seen[64];
    size_t count = 0;
    for (uint64_t a = 0; a < 4; a++)
        for (uint64_t b = 0; b < 4; b++)
            for (uint64_t c = 0; c < 4; c++) {
                struct rand rand;
                rand_init_keyed(&rand, a, b, c);
                seen[count] = rand_next(&rand);
                for (size_t i = 0; i < count; i++)
                    assert_true(seen[i] != seen[count]);
                count++;
            }
}

static void test_below(void **state)
{
    enum { LIMIT = 7, DRAWS = 70000 };
    struct rand rand;
    int counts[LIMIT] = {0};
    rand_init(&rand, 1);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t value = rand_below(&rand, LIMIT);
        assert_true(value < LIMIT);
        counts[value]++;
    }
    for (int i = 0; i < LIMIT; i++)
        assert_in_range(counts[i], 9600, 10400); /* 10000 ± 4 standard deviations */
    assert_true(rand_below(&rand, 1) == 0);
    assert_true(rand_below(&rand, UINT64_MAX) < UINT64_MAX);
}

static void test_unit_and_normal(void **state)
{
    enum { DRAWS = 100000 };
    struct rand rand;
    double sum = 0, square = 0, unit_sum = 0;
    rand_init(&rand, 2);
    for (int i = 0; i < DRAWS; i++) {
        double unit = rand_unit(&rand), normal = rand_normal(&rand);
        assert_true(unit >= 0 && unit < 1 && isfinite(normal));
        unit_sum += unit;
        sum += normal;
        square += normal * normal;
    }
    assert_true(fabs(unit_sum / DRAWS - 0.5) < 0.01);
    assert_true(fabs(sum / DRAWS) < 0.02);
    assert_true(fabs(square / DRAWS - 1) < 0.03);
}

static void test_secure(void **state)
{
    char a[37], b[37], suffix[6];
    rand_uuid(a);
    rand_uuid(b);
    assert_string_not_equal(a, b);
    assert_int_equal(strlen(a), 36);
    assert_int_equal(a[14], '4');
    assert_non_null(strchr("89ab", a[19]));
    for (int i = 0; i < 200; i++) {
        rand_suffix(suffix);
        assert_int_equal(strlen(suffix), 5);
        assert_int_equal(strspn(suffix, "bcdfghjklmnpqrstvwxz2456789"), 5);
        assert_true(str_is_dns_label(suffix));
    }
    unsigned char bytes[1000] = {0};
    rand_secure(bytes, sizeof(bytes));
    size_t zeros = 0;
    for (size_t i = 0; i < sizeof(bytes); i++)
        zeros += bytes[i] == 0;
    assert_true(zeros < 50);
    rand_secure(bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_everywhere), cmocka_unit_test(test_keys_differ),
        cmocka_unit_test(test_below),           cmocka_unit_test(test_unit_and_normal),
        cmocka_unit_test(test_secure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
