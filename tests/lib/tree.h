/* For tests of pure functions: an arena per test, and objects from JSON literals. */
#ifndef TRAINYARD_TESTS_LIB_TREE_H
#define TRAINYARD_TESTS_LIB_TREE_H

#include "base/json/json.h"
#include "test_arena.h"

#include <string.h>

static inline struct json *tree(const char *text)
{
    struct json *json;
    struct err err = ERR_INIT;
    if (json_parse(arena, text, strlen(text), NULL, &json, &err) < 0)
        fail_msg("%s: %s", text, err.message);
    return json;
}

#endif
