/* Tests bearer tokens whose file changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/system/file.h"
#include "net/http/bearer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct world {
    char directory[64], path[96];
    struct http_bearer bearer;
};

static void write_token(struct world *world, const char *text)
{
    /* Like a node: a new file replaces the old one. */
    assert_int_equal(file_replace(world->path, text, strlen(text), 0600, NULL), 0);
}

static int setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    snprintf(world->directory, sizeof(world->directory), "/tmp/bearer.XXXXXX");
    assert_non_null(mkdtemp(world->directory));
    snprintf(world->path, sizeof(world->path), "%s/token", world->directory);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    http_bearer_release(&world->bearer);
    http_bearer_release(&world->bearer); /* a second release is harmless */
    file_remove_tree(world->directory, NULL);
    free(world);
    return 0;
}

static void a_token_without_a_file_is_constant(void **state)
{
    struct world *world = *state;
    http_bearer_init(&world->bearer, "fixed", NULL);
    assert_string_equal(http_bearer_get(&world->bearer, 0), "fixed");
    http_bearer_release(&world->bearer);
    http_bearer_init(&world->bearer, NULL, NULL);
    assert_null(http_bearer_get(&world->bearer, 0));
}

static void a_changed_file_is_read_again_after_a_delay(void **state)
{
    struct world *world = *state;
    write_token(world, " one\n");
    http_bearer_init(&world->bearer, "before", world->path);
    assert_string_equal(http_bearer_get(&world->bearer, 1000), "one");
    write_token(world, "two\n");
    assert_string_equal(http_bearer_get(&world->bearer, 1001), "one");
    assert_string_equal(http_bearer_get(&world->bearer, 60000), "two");
}

static void a_rejected_token_is_read_again_at_once(void **state)
{
    struct world *world = *state;
    write_token(world, "one");
    http_bearer_init(&world->bearer, NULL, world->path);
    assert_string_equal(http_bearer_get(&world->bearer, 1000), "one");
    write_token(world, "two");
    http_bearer_mark_rejected(&world->bearer);
    assert_string_equal(http_bearer_get(&world->bearer, 1001), "two");
}

static void an_unreadable_file_keeps_the_token(void **state)
{
    struct world *world = *state;
    http_bearer_init(&world->bearer, "first", world->path);
    assert_string_equal(http_bearer_get(&world->bearer, 0), "first");
    write_token(world, "one");
    assert_string_equal(http_bearer_get(&world->bearer, 10000), "one");
    write_token(world, " \n");
    assert_string_equal(http_bearer_get(&world->bearer, 20000), "one");
    unlink(world->path);
    assert_string_equal(http_bearer_get(&world->bearer, 30000), "one");
    write_token(world, "two");
    assert_string_equal(http_bearer_get(&world->bearer, 40000), "two");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_token_without_a_file_is_constant),
        TEST(a_changed_file_is_read_again_after_a_delay),
        TEST(a_rejected_token_is_read_again_at_once),
        TEST(an_unreadable_file_keeps_the_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
