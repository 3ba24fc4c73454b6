/* For tests of pure functions: TEST(function) creates an arena before each test and frees it
 * afterwards. */
#ifndef TRAINYARD_TESTS_LIB_TEST_ARENA_H
#define TRAINYARD_TESTS_LIB_TEST_ARENA_H

#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct arena *arena;

static int setup(void **state)
{
    arena = arena_new();
    return 0;
}

static int teardown(void **state)
{
    arena = arena_free(arena);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

#endif
