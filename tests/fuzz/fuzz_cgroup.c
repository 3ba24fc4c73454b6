/* Fuzzes the parsers of /proc/self/cgroup and mountinfo. The input is both texts with a line "="
 * between them. They must lead to directories below a mount point, or to none. Groups that are read
 * from text must read back the same after being written. */
#include "base/mem.h"
#include "node/limits/cgroup_detect.h"

#include <stdint.h>
#include <string.h>

static void check_places(struct arena *arena, char *text)
{
    char *mounts = strstr(text, "=\n");
    if (!mounts)
        return;
    *mounts = '\0';
    struct cgroup_places places;
    cgroup_detect(arena, text, mounts + 2, &places);
    for (size_t i = 0; i < places.count; i++) {
        const struct cgroup_place *place = &places.items[i];
        if (strncmp(place->group, place->mount, strlen(place->mount)) != 0)
            mem_panic("a group '%s' outside of its mount", place->group);
        if (!place->unified && !place->controllers)
            mem_panic("a hierarchy of no use");
    }
}

static void check_trees(struct arena *arena, char *text)
{
    struct cgroup_trees trees;
    if (cgroup_trees_parse(text, &trees, NULL) < 0)
        return;
    struct buf first, second;
    buf_init(&first, 1024 * 1024);
    buf_init(&second, 1024 * 1024);
    cgroup_trees_write(&trees, &first);
    if (trees.count) {
        if (cgroup_trees_parse(arena_strdup(arena, first.data), &trees, NULL) < 0)
            mem_panic("groups were written but are not read");
        cgroup_trees_write(&trees, &second);
        if (strcmp(first.data, second.data) != 0)
            mem_panic("groups are read back as others");
    }
    buf_release(&first);
    buf_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 64 * 1024)
        return 0;
    struct arena *arena = arena_new();
    check_places(arena, arena_strndup(arena, (const char *)data, size));
    check_trees(arena, arena_strndup(arena, (const char *)data, size));
    arena_free(arena);
    return 0;
}
