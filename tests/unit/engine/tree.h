/* An arena for each test, and objects from the JSON one writes in a test. For tests of what is
 * pure; api.h has those that talk to a server. */
#ifndef TRAINYARD_TESTS_ENGINE_TREE_H
#define TRAINYARD_TESTS_ENGINE_TREE_H

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

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

static inline struct json *tree(const char *text)
{
    struct json *json;
    struct err err = ERR_INIT;
    if (json_parse(arena, text, strlen(text), NULL, &json, &err) < 0)
        fail_msg("%s: %s", text, err.message);
    return json;
}

#endif
