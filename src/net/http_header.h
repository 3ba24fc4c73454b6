/* The header lines of a message, as HTTP and SPDY have them: a list of names and values. */
#ifndef TRAINYARD_NET_HTTP_HEADER_H
#define TRAINYARD_NET_HTTP_HEADER_H

#include "base/arena.h"

#include <stdbool.h>

struct http_header {
    const char *name; /* as it was sent; compared without case */
    const char *value;
    struct http_header *next;
};

/* The value of the first line of this name, or NULL. */
const char *http_header_get(const struct http_header *headers, const char *name);

/* Appends a line; name and value are copied into the arena. */
void http_header_add(struct arena *arena, struct http_header **headers, const char *name,
                     const char *value);

/* Whether a line of this name has the word in its list, which commas or blanks separate. The case
 * of the word does not matter. */
bool http_header_has_word(const struct http_header *headers, const char *name, const char *word);

/* A copy of all lines in the arena. */
struct http_header *http_headers_copy(struct arena *arena, const struct http_header *headers);

#endif
