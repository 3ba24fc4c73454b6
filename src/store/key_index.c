/* Implements the sorted map as a skip list; see key_index.h. A node gets each further level with
 * probability 1/4, so a node has 1.33 pointers on average. The number of levels does not depend on
 * the key, so no choice of keys makes the map slow. */
#include "store/key_index.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { LEVELS_MAX = 16 }; /* enough for 4^16 keys */

static struct key_node *node_new(const char *key, int levels)
{
    struct key_node *node = mem_zalloc(sizeof(*node) + (size_t)levels * sizeof(struct key_node *));
    node->key = mem_strdup(key);
    return node;
}

static void node_free(struct key_node *node)
{
    free(node->key);
    free(node);
}

void key_index_init(struct key_index *index)
{
    *index = (struct key_index){.head = node_new("", LEVELS_MAX), .levels = 1};
    rand_init(&index->rand, 1);
}

void key_index_release(struct key_index *index)
{
    for (struct key_node *node = index->head, *next; node; node = next) {
        next = node->next[0];
        node_free(node);
    }
    *index = (struct key_index){0};
}

/* Returns the first node whose key is not before `key`, or NULL. Sets `before` to the last node
 * before `key` on each level. An insertion or removal changes the links of these nodes. */
static struct key_node *index_search(const struct key_index *index, const char *key,
                                     struct key_node *before[LEVELS_MAX])
{
    struct key_node *node = index->head;
    for (int level = index->levels - 1; level >= 0; level--) {
        while (node->next[level] && strcmp(node->next[level]->key, key) < 0)
            node = node->next[level];
        before[level] = node;
    }
    return node->next[0];
}

struct key_node *key_index_from(const struct key_index *index, const char *key)
{
    struct key_node *before[LEVELS_MAX];
    return index_search(index, key, before);
}

struct key_node *key_index_before(const struct key_index *index, const char *key)
{
    struct key_node *before[LEVELS_MAX];
    index_search(index, key, before);
    return before[0] == index->head ? NULL : before[0];
}

struct key_node *key_index_find(const struct key_index *index, const char *key)
{
    struct key_node *node = key_index_from(index, key);
    return node && strcmp(node->key, key) == 0 ? node : NULL;
}

static int draw_levels(struct key_index *index)
{
    int levels = 1;
    for (uint64_t bits = rand_next(&index->rand); (bits & 3) == 0 && levels < LEVELS_MAX;
         bits >>= 2)
        levels++;
    return levels;
}

struct key_node *key_index_insert(struct key_index *index, const char *key)
{
    struct key_node *before[LEVELS_MAX], *found = index_search(index, key, before);
    if (found && strcmp(found->key, key) == 0)
        return found;
    int levels = draw_levels(index);
    for (; index->levels < levels; index->levels++)
        before[index->levels] = index->head;
    struct key_node *node = node_new(key, levels);
    for (int level = 0; level < levels; level++) {
        node->next[level] = before[level]->next[level];
        before[level]->next[level] = node;
    }
    index->count++;
    return node;
}

void key_index_remove(struct key_index *index, const char *key)
{
    struct key_node *before[LEVELS_MAX], *node = index_search(index, key, before);
    if (!node || strcmp(node->key, key) != 0)
        return;
    for (int level = 0; level < index->levels && before[level]->next[level] == node; level++)
        before[level]->next[level] = node->next[level];
    node_free(node);
    index->count--;
}
