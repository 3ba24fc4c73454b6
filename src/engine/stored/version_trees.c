/* Keeps the parsed trees of two versions; see version_trees.h. Revisions are never reused, so a
 * revision identifies a version of an object. */
#include "engine/stored/version_trees.h"

#include "base/mem.h"
#include "engine/stored/stored.h"

#include <stdlib.h>

struct tree {
    int64_t revision; /* 0: the entry is empty */
    struct json *json;
    struct arena *arena;
};

struct version_trees {
    struct tree latest; /* the version that was requested last */
    struct tree before; /* the other version that is kept */
};

struct version_trees *version_trees_new(void)
{
    struct version_trees *trees = mem_zalloc(sizeof(*trees));
    trees->latest.arena = arena_new();
    trees->before.arena = arena_new();
    return trees;
}

struct version_trees *version_trees_free(struct version_trees *trees)
{
    if (!trees)
        return NULL;
    arena_free(trees->latest.arena);
    arena_free(trees->before.arena);
    free(trees);
    return NULL;
}

static void tree_read(struct tree *tree, struct store_object *version)
{
    arena_reset(tree->arena);
    tree->revision = version->revision;
    if (stored_read(tree->arena, version, &tree->json, NULL) < 0)
        tree->json = NULL;
}

const struct json *version_trees_get(struct version_trees *trees, struct store_object *version)
{
    if (trees->latest.revision != version->revision) {
        struct tree older = trees->before;
        trees->before = trees->latest;
        trees->latest = older;
        if (older.revision != version->revision)
            tree_read(&trees->latest, version);
    }
    return trees->latest.json;
}
