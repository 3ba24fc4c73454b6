/* What differs between two tasks; see terms.h. */
#include "comm/transport/shape_text.h"

#include <stdio.h>
#include <string.h>

enum { TOLD_MAX = 3, PART_MAX = 80 };

/* One line, without its end. */
struct line {
    const char *name, *value;
    int name_size, value_size;
};

static bool next_line(const char **at, struct line *ret)
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

static bool is_same(const char *a, int a_size, const char *b, int b_size)
{
    return a_size == b_size && memcmp(a, b, (size_t)a_size) == 0;
}

static bool find(const char *text, const struct line *wanted, struct line *ret)
{
    while (next_line(&text, ret))
        if (is_same(ret->name, ret->name_size, wanted->name, wanted->name_size))
            return true;
    return false;
}

static int cut(int size)
{
    return size < PART_MAX ? size : PART_MAX;
}

static void tell(char *text, size_t size, size_t told, const struct line *there,
                 const struct line *here)
{
    size_t at = strlen(text);
    const struct line *any = there ? there : here;
    snprintf(text + at, size - at, "%s%.*s %.*s %s", told ? ", " : "", cut(any->name_size),
             any->name, cut(any->value_size), any->value, there ? "there" : "only here");
    at = strlen(text);
    if (there && here)
        snprintf(text + at, size - at, " and %.*s here", cut(here->value_size), here->value);
    else if (there)
        snprintf(text + at, size - at, " only");
}

bool terms_difference(const char *ours, const char *theirs, char *text, size_t size)
{
    size_t told = 0;
    struct line here, there;
    text[0] = '\0';
    for (const char *at = ours; told < TOLD_MAX && next_line(&at, &here);) {
        bool found = find(theirs, &here, &there);
        if (!found || !is_same(here.value, here.value_size, there.value, there.value_size))
            tell(text, size, told++, found ? &there : NULL, &here);
    }
    for (const char *at = theirs; told < TOLD_MAX && next_line(&at, &there);)
        if (!find(ours, &there, &here))
            tell(text, size, told++, &there, NULL);
    return told > 0;
}
