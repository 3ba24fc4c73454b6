/* What the kernels' tests use of cmocka, for a processor whose cmocka is not installed: the first
 * assertion that fails ends the program. For tests/cross/kernels only. */
#ifndef TRAINYARD_TESTS_CROSS_CMOCKA_H
#define TRAINYARD_TESTS_CROSS_CMOCKA_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define cmocka_unit_test(function)                                                                 \
    {                                                                                              \
#function, function                                                                        \
    }

#define fail_msg(...)                                                                              \
    do {                                                                                           \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                            \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fputc('\n', stderr);                                                                       \
        exit(1);                                                                                   \
    } while (0)

#define assert_true(condition)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s", #condition);                                                            \
    } while (0)

#define assert_int_equal(a, b) assert_true((a) == (b))

#define assert_string_equal(a, b) assert_true(strcmp(a, b) == 0)

#define assert_float_equal(a, b, apart) assert_true(fabs((double)(a) - (double)(b)) <= (apart))

#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    cross_run_tests(tests, sizeof(tests) / sizeof((tests)[0]))

static inline int cross_run_tests(const struct CMUnitTest *tests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        printf("%s\n", tests[i].name);
        fflush(stdout);
        tests[i].run(NULL);
    }
    return 0;
}

#endif
