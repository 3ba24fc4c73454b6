/* For tests: a JSON tree from a literal, in which ' stands for " so that the cases stay legible. */
#ifndef TRAINYARD_TESTS_KUBE_READ_JSON_H
#define TRAINYARD_TESTS_KUBE_READ_JSON_H

#include "base/json.h"
#include "base/mem.h"

#include <string.h>

static inline struct json *read_json(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text);
    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct json *json = NULL;
    struct err err = ERR_INIT;
    if (json_parse(arena, copy, strlen(copy), NULL, &json, &err) < 0)
        mem_panic("the test's own JSON is bad: %s: %s", text, err.message);
    return json;
}

#endif
