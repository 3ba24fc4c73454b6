/* For tests: makes a JSON tree from a literal, in which ' stands for " so that the text is
 * legible. */
#ifndef TRAINYARD_TESTS_LIB_READ_JSON_H
#define TRAINYARD_TESTS_LIB_READ_JSON_H

#include "base/arena.h"
#include "base/json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Returns the text with " instead of ', for functions that parse it themselves. */
static inline char *quoted(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text);

    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return copy;
}

static inline struct json *read_json(struct arena *arena, const char *text)
{
    const char *copy = quoted(arena, text);
    struct json *json = NULL;
    struct err err = ERR_INIT;

    if (json_parse(arena, copy, strlen(copy), NULL, &json, &err) < 0)
        fail_msg("the test's own JSON is bad: %s: %s", text, err.message);
    return json;
}

#endif
