/* Values in the order of their keys: find, insert and remove in O(log n), and walk from any key on.
 * A skip list, because a walk over one prefix is then a walk along a list. Keys are copied; values
 * belong to the caller. One thread. */
#ifndef TRAINYARD_STORE_KEY_INDEX_H
#define TRAINYARD_STORE_KEY_INDEX_H

#include "base/rand.h"

#include <stddef.h>

struct key_node {
    void *value;
    char *key;
    struct key_node *next[]; /* next[0] is the next key of all */
};

struct key_index {
    struct key_node *head; /* before all keys, with every level */
    int levels;            /* in use */
    size_t count;
    struct rand rand;
};

void key_index_init(struct key_index *index);
void key_index_release(struct key_index *index); /* frees the keys, not the values */

struct key_node *key_index_find(const struct key_index *index, const char *key); /* or NULL */

/* The node of the key, made with a NULL value if there is none. It stays valid until removed. */
struct key_node *key_index_insert(struct key_index *index, const char *key);
void key_index_remove(struct key_index *index, const char *key); /* absent is fine */

/* The first node whose key is not before `key`, or NULL; go on with node->next[0]. */
struct key_node *key_index_from(const struct key_index *index, const char *key);

/* The last node whose key is before `key`, or NULL. */
struct key_node *key_index_before(const struct key_index *index, const char *key);

#endif
