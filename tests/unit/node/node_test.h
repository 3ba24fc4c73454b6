/* What the tests of this module share: cmocka in its order, and JSON from single-quoted text. */
#ifndef TRAINYARD_TESTS_NODE_TEST_H
#define TRAINYARD_TESTS_NODE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* 'a' stands for "a", so that the objects of tests can be read. */
static inline struct json *read_json(struct arena *arena, const char *text)
{
    char *quoted = arena_strdup(arena, text);
    for (char *at = quoted; *at; at++)
        if (*at == '\'')
            *at = '"';
    struct json *json = NULL;
    struct err err = ERR_INIT;
    if (json_parse(arena, quoted, strlen(quoted), NULL, &json, &err) < 0)
        fail_msg("%s: %s", err.message, quoted);
    return json;
}

#endif
