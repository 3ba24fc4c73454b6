/* Implements lists of header lines; see http_header.h. */
#include "net/http_header.h"

#include "base/str.h"

#include <string.h>
#include <strings.h>

const char *http_header_get(const struct http_header *headers, const char *name)
{
    for (; headers; headers = headers->next)
        if (str_eq_nocase(headers->name, name))
            return headers->value;
    return NULL;
}

bool http_header_has_word(const struct http_header *headers, const char *name, const char *word)
{
    size_t size = strlen(word);
    for (; headers; headers = headers->next) {
        if (!str_eq_nocase(headers->name, name))
            continue;
        for (const char *at = headers->value; *at;) {
            at += strspn(at, ", \t");
            size_t here = strcspn(at, ", \t");
            if (here == size && strncasecmp(at, word, size) == 0)
                return true;
            at += here;
        }
    }
    return false;
}

void http_header_add(struct arena *arena, struct http_header **headers, const char *name,
                     const char *value)
{
    while (*headers)
        headers = &(*headers)->next;
    *headers = ARENA_NEW(arena, struct http_header);
    (*headers)->name = arena_strdup(arena, name);
    (*headers)->value = arena_strdup(arena, value);
}

struct http_header *http_headers_copy(struct arena *arena, const struct http_header *headers)
{
    struct http_header *first = NULL, **last = &first;
    for (; headers; headers = headers->next, last = &(*last)->next)
        http_header_add(arena, last, headers->name, headers->value);
    return first;
}
