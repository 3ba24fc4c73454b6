/* Tests every function of the vector tables against plain loops in double, for each instruction set
 * of this processor, with lengths that fill vectors and lengths that do not. */
#include "random_floats.h"

#include "train/kernels/bf16.h"
#include "train/kernels/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* A function that is added to the table must be added to this file, too. */
_Static_assert(sizeof(struct kernels) == 14 * sizeof(void *), "one function is not tested here");

enum { ROUNDS = 30 };

/* x[rows][c] is a random tensor. `other` and `mask` have its size, the vectors have c values. */
struct sample {
    size_t rows, count;
    int c;
    float *x, *dy, *y; /* y is the output of a ReLU */
    float *a, *b, *d;
};

static struct sample sample_new(struct rand *rand)
{
    static const int channels[] = {1, 2, 3, 7, 8, 15, 16, 17, 32, 48, 63, 64, 65, 96, 130};
    struct sample s = {.rows = 1 + rand_below(rand, 50),
                       .c = channels[rand_below(rand, ARRAY_SIZE(channels))]};
    s.count = s.rows * (size_t)s.c;
    s.x = random_floats(rand, s.count), s.dy = random_floats(rand, s.count);
    s.y = random_floats(rand, s.count);
    for (size_t i = 0; i < s.count; i++)
        s.y[i] = s.y[i] > 0 ? s.y[i] : 0;
    s.a = random_floats(rand, (size_t)s.c), s.b = random_floats(rand, (size_t)s.c);
    s.d = random_floats(rand, (size_t)s.c);
    return s;
}

static void sample_release(struct sample *s)
{
    free(s->x), free(s->dy), free(s->y), free(s->a), free(s->b), free(s->d);
}

static float *copy(const float *from, size_t count)
{
    float *to = zero_floats(count);
    memcpy(to, from, count * sizeof(*to));
    return to;
}

static void assert_close(const struct kernels *k, const char *what, const struct sample *s,
                         const float *want, const float *got, size_t count)
{
    if (apart(want, got, count) > 3e-6)
        fail_msg("%s %s: %g apart, %zu × %d", k->name, what, apart(want, got, count), s->rows,
                 s->c);
}

static void check_sums(const struct kernels *k, const struct sample *s)
{
    size_t c = (size_t)s->c;
    float *want[5], *got[5];
    for (int i = 0; i < 5; i++) /* the functions add to these values */
        want[i] = copy(s->d, c), got[i] = copy(s->d, c);
    for (size_t i = 0; i < c; i++) {
        double sum[5] = {0}, centre = (double)s->a[i];
        for (size_t at = i; at < s->count; at += c) {
            double x = (double)s->x[at], dy = (double)s->dy[at], passed = s->y[at] > 0 ? dy : 0;
            sum[0] += x;
            sum[1] += (x - centre) * (x - centre);
            sum[2] += passed;
            sum[3] += passed * (x - centre);
            sum[4] += dy * (x - centre);
        }
        for (int j = 0; j < 5; j++)
            want[j][i] += (float)sum[j];
    }
    float *unmasked = copy(s->d, c);
    k->channel_sum(s->x, s->rows, s->c, got[0]);
    k->channel_square_sum(s->x, s->rows, s->c, s->a, got[1]);
    k->channel_gradient_sums(s->dy, s->y, s->x, s->rows, s->c, s->a, got[2], got[3]);
    k->channel_gradient_sums(s->dy, NULL, s->x, s->rows, s->c, s->a, unmasked, got[4]);
    for (int i = 0; i < 5; i++)
        assert_close(k, "sums", s, want[i], got[i], c);
    for (int i = 0; i < 5; i++)
        free(want[i]), free(got[i]);
    free(unmasked);
}

static void check_maps(const struct kernels *k, const struct sample *s)
{
    float *want = zero_floats(s->count), *got = zero_floats(s->count);
    for (int relu = 0; relu < 2; relu++) {
        for (size_t i = 0; i < s->count; i++) {
            int c = (int)(i % (size_t)s->c);
            want[i] = (float)((double)s->x[i] * (double)s->a[c] + (double)s->b[c]);
            want[i] = relu && want[i] < 0 ? 0 : want[i];
        }
        k->channel_affine(s->x, s->rows, s->c, s->a, s->b, relu, got);
        assert_close(k, "affine", s, want, got, s->count);
    }
    for (int masked = 0; masked < 2; masked++)
        for (int accumulate = 0; accumulate < 2; accumulate++) {
            for (size_t i = 0; i < s->count; i++) {
                int c = (int)(i % (size_t)s->c);
                double dy = masked && !(s->y[i] > 0) ? 0 : (double)s->dy[i];
                want[i] = (float)(dy * (double)s->a[c] + (double)s->x[i] * (double)s->b[c] +
                                  (double)s->d[c] + (accumulate ? (double)s->y[i] : 0));
            }
            memcpy(got, s->y, s->count * sizeof(*got));
            k->channel_gradient(s->dy, masked ? s->y : NULL, s->x, s->rows, s->c, s->a, s->b, s->d,
                                accumulate, got);
            assert_close(k, "gradient", s, want, got, s->count);
        }
    free(want), free(got);
}

static void check_rectifiers(const struct kernels *k, const struct sample *s)
{
    float *got = zero_floats(s->count);
    k->relu(s->x, s->count, got);
    for (size_t i = 0; i < s->count; i++)
        assert_float_equal(got[i], fmaxf(s->x[i], 0), 0);
    k->add_relu(s->x, s->dy, s->count, got);
    for (size_t i = 0; i < s->count; i++)
        assert_float_equal(got[i], fmaxf(s->x[i] + s->dy[i], 0), 0);
    memcpy(got, s->x, s->count * sizeof(*got));
    k->relu_gradient(s->dy, s->y, s->count, true, got);
    for (size_t i = 0; i < s->count; i++)
        assert_float_equal(got[i], s->y[i] > 0 ? s->x[i] + s->dy[i] : s->x[i], 0);
    k->relu_gradient(s->dy, s->y, s->count, false, got);
    for (size_t i = 0; i < s->count; i++)
        assert_float_equal(got[i], s->y[i] > 0 ? s->dy[i] : 0, 0);
    free(got);
}

static void check_single_values(const struct kernels *k, const struct sample *s)
{
    float *got = copy(s->dy, s->count), *left = copy(s->x, s->count), *in = copy(s->y, s->count);
    for (size_t i = 0; i < s->count; i += 3)
        in[i] += 1; /* not the maximum */
    k->max_gradient(in, s->y, (int)s->count, left, got);
    for (size_t i = 0; i < s->count; i++) {
        assert_float_equal(got[i], in[i] == s->y[i] ? s->dy[i] + s->x[i] : s->dy[i], 0);
        assert_float_equal(left[i], in[i] == s->y[i] ? 0 : s->x[i], 0);
    }
    const float quantum = 0x1p-10f;
    for (size_t i = 0; i < s->count; i++)
        got[i] = 4;
    float most = 0, found = k->add_rounded(s->x, quantum, s->count, got);
    for (size_t i = 0; i < s->count; i++) {
        assert_float_equal(got[i], 4 + rintf(s->x[i] / quantum) * quantum, 0);
        most = fmaxf(most, fabsf(s->x[i]));
    }
    assert_float_equal(found, most, 0);
    assert_float_equal(k->add_rounded(s->x, 0, s->count, got), most, 0);
    for (size_t i = 0; i < s->count; i++)
        assert_float_equal(got[i], 4 + rintf(s->x[i] / quantum) * quantum + s->x[i], 0);
    assert_float_equal(k->add_rounded(s->x, quantum, 0, got), 0, 0);
    k->round_bf16(s->x, s->count, got);
    for (size_t i = 0; i < s->count; i++)
        assert_float_equal(got[i], bf16_value(bf16_round(s->x[i])), 0);
    free(got), free(left), free(in);
}

static void every_function_agrees_with_plain_loops(void **state)
{
    struct rand rand;
    rand_init(&rand, 21);
    for (int round = 0; round < ROUNDS; round++) {
        struct sample s = sample_new(&rand);
        for (size_t i = 0; kernels_at(i); i++) {
            check_sums(kernels_at(i), &s);
            check_maps(kernels_at(i), &s);
            check_rectifiers(kernels_at(i), &s);
            check_single_values(kernels_at(i), &s);
        }
        sample_release(&s);
    }
}

static void bf16_rounds_to_nearest_even(void **state)
{
    static const struct {
        float value, rounded;
    } cases[] = {
        {0, 0},
        {1, 1},
        {-2.5f, -2.5f},
        {1 + 0x1p-9f, 1}, /* below the midpoint of 1 and 1 + 2⁻⁷ */
        {1 + 0x1p-8f, 1}, /* at the midpoint: rounded to even */
        {1 + 0x3p-8f, 1 + 0x1p-6f},
        {-1 - 0x1.1p-8f, -1 - 0x1p-7f},
        {3e38f, 0x1.c4p127f},
        {INFINITY, INFINITY},
        {-0x1.fffp127f, -INFINITY},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        if (bf16_value(bf16_round(cases[i].value)) != cases[i].rounded)
            fail_msg("%a became %a", (double)cases[i].value,
                     (double)bf16_value(bf16_round(cases[i].value)));
    assert_true(isnan(bf16_value(bf16_round(NAN))));
}

/* The argument is the expected name of the first table, on a known processor. */
int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], kernels_best()->name) != 0) {
        fprintf(stderr, "the kernels of this processor are %s, not %s\n", kernels_best()->name,
                argv[1]);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_agrees_with_plain_loops),
        cmocka_unit_test(bf16_rounds_to_nearest_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
