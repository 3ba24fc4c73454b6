/* A sorted map from key to value: find, insert and remove in O(log n) on average, and iterate from
 * any key. The map is a skip list, so that iterating over all keys with a prefix follows a linked
 * list. Keys are copied; values belong to the caller. Not thread-safe. */
#ifndef TRAINYARD_STORE_KEY_INDEX_H
#define TRAINYARD_STORE_KEY_INDEX_H

#include "base/rand.h"

#include <stddef.h>

struct key_node {
    void *value;
    char *key;
    struct key_node *next[]; /* next[0] is the node of the next key */
};

struct key_index {
    struct key_node *head; /* not in the map: the node before all others, with links on all
                              levels */
    int levels;            /* largest number of levels that a node has had */
    size_t count;
    struct rand rand;
};

void key_index_init(struct key_index *index);
void key_index_release(struct key_index *index); /* frees the nodes and keys, not the values */

/* Returns the node of the key, or NULL if the key is absent. */
struct key_node *key_index_find(const struct key_index *index, const char *key);

/* Returns the node of the key. If the key is absent, inserts a node with a NULL value. The pointer
 * stays valid until the key is removed. */
struct key_node *key_index_insert(struct key_index *index, const char *key);
/* Removes the key. Does nothing if the key is absent. */
void key_index_remove(struct key_index *index, const char *key);

/* Returns the first node whose key is not before `key`, or NULL. To iterate, follow
 * node->next[0]. */
struct key_node *key_index_from(const struct key_index *index, const char *key);

/* Returns the last node whose key is before `key`, or NULL. */
struct key_node *key_index_before(const struct key_index *index, const char *key);

#endif
