/* The header lines of an HTTP or SPDY message: a list of names and values. */
#ifndef TRAINYARD_NET_HTTP_HEADER_H
#define TRAINYARD_NET_HTTP_HEADER_H

#include "base/arena.h"

#include <stdbool.h>

struct http_header {
    const char *name; /* as it was sent; all comparisons ignore case */
    const char *value;
    struct http_header *next;
};

/* Returns the value of the first line of this name, or NULL. */
const char *http_header_get(const struct http_header *headers, const char *name);

/* Appends a line to the list *headers. Copies name and value into the arena. */
void http_header_add(struct arena *arena, struct http_header **headers, const char *name,
                     const char *value);

/* Returns whether a line of this name contains the word. The value of the line is a list of words,
 * separated by commas or white space. The comparison ignores case. */
bool http_header_has_word(const struct http_header *headers, const char *name, const char *word);

/* Returns a copy of all lines, allocated in the arena. */
struct http_header *http_headers_copy(struct arena *arena, const struct http_header *headers);

#endif
