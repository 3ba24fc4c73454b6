/* Offers jansson as a second implementation of JSON to compare with. It is loaded at run time,
 * because its function names are also those of base/json/json.h. Linked into one program, each
 * library would call the functions of the other. */
#ifndef TRAINYARD_TESTS_UNIT_BASE_JANSSON_PEER_H
#define TRAINYARD_TESTS_UNIT_BASE_JANSSON_PEER_H

#include <stdbool.h>
#include <stddef.h>

bool peer_load(void); /* Returns false if jansson is not installed. */

/* Returns a tree of jansson's, or NULL if it rejects the text. Duplicate names are rejected. */
void *peer_read(const char *text, size_t size);
char *peer_write(const void *tree); /* Returns the shortest form. The caller frees it. */
void peer_free(void *tree);
bool peer_equal(const void *a, const void *b);

#endif
