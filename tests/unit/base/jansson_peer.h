/* jansson as a second implementation of JSON to compare with. It is loaded at run time, because its
 * function names are also those of base/json/json.h: linked into one program, each library would
 * call the functions of the other. */
#ifndef TRAINYARD_TESTS_UNIT_BASE_JANSSON_PEER_H
#define TRAINYARD_TESTS_UNIT_BASE_JANSSON_PEER_H

#include <stdbool.h>
#include <stddef.h>

bool peer_load(void); /* false: it is not installed */

/* A tree of the peer's, or NULL if it refuses the text. Duplicate names are refused. */
void *peer_read(const char *text, size_t size);
char *peer_write(const void *tree); /* malloc'ed, the shortest form */
void peer_free(void *tree);
bool peer_equal(const void *a, const void *b);

#endif
