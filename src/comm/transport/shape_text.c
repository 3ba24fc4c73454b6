/* Implements the comparison of shape texts; see shape_text.h. */
#include "comm/transport/shape_text.h"

#include <stdio.h>
#include <string.h>

enum { DIFFERENCES_MAX = 3, PART_MAX = 80 };

/* One line of a shape text, without the newline. */
struct shape_line {
    const char *name, *value;
    int name_size, value_size;
};

/* Reads the line at *at and moves *at to the next line. Returns false at the end of the text. */
static bool shape_text_next(const char **at, struct shape_line *ret)
{
    if (!**at)
        return false;
    const char *end = strchrnul(*at, '\n');
    const char *space = memchr(*at, ' ', (size_t)(end - *at));
    ret->name = *at;
    ret->name_size = (int)((space ? space : end) - *at);
    ret->value = space ? space + 1 : end;
    ret->value_size = (int)(end - ret->value);
    *at = *end ? end + 1 : end;
    return true;
}

static bool shape_text_is_same(const char *a, int a_size, const char *b, int b_size)
{
    return a_size == b_size && memcmp(a, b, (size_t)a_size) == 0;
}

static bool shape_text_find(const char *text, const struct shape_line *wanted,
                            struct shape_line *ret)
{
    while (shape_text_next(&text, ret))
        if (shape_text_is_same(ret->name, ret->name_size, wanted->name, wanted->name_size))
            return true;
    return false;
}

static int shape_text_clip(int size)
{
    return size < PART_MAX ? size : PART_MAX;
}

/* Appends a difference. `there` or `here` is NULL if only the other task has the option. `count` is
 * the number of differences before. */
static void shape_text_append(char *text, size_t size, size_t count, const struct shape_line *there,
                              const struct shape_line *here)
{
    size_t at = strlen(text);
    const struct shape_line *any = there ? there : here;
    snprintf(text + at, size - at, "%s%.*s %.*s %s", count ? ", " : "",
             shape_text_clip(any->name_size), any->name, shape_text_clip(any->value_size),
             any->value, there ? "there" : "only here");
    at = strlen(text);
    if (there && here)
        snprintf(text + at, size - at, " and %.*s here", shape_text_clip(here->value_size),
                 here->value);
    else if (there)
        snprintf(text + at, size - at, " only");
}

bool shape_text_difference(const char *own, const char *peer, char *text, size_t size)
{
    size_t count = 0;
    struct shape_line here, there;
    text[0] = '\0';
    for (const char *at = own; count < DIFFERENCES_MAX && shape_text_next(&at, &here);) {
        bool found = shape_text_find(peer, &here, &there);
        if (!found ||
            !shape_text_is_same(here.value, here.value_size, there.value, there.value_size))
            shape_text_append(text, size, count++, found ? &there : NULL, &here);
    }
    for (const char *at = peer; count < DIFFERENCES_MAX && shape_text_next(&at, &there);)
        if (!shape_text_find(own, &there, &here))
            shape_text_append(text, size, count++, &there, NULL);
    return count > 0;
}
