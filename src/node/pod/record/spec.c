/* Builds a pod's spec in memory, and stores and loads its file; see pod/record/spec.h.
 * pod/record/spec_text.c has the text form. */
#include "node/pod/record/spec.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/plan/capabilities.h"

#include <string.h>

/* Returns an array with room for at least `wanted` items, which contains the `count` existing
 * items. Updates `*capacity`. */
static void *spec_grow_list(struct arena *arena, void *items, size_t count, size_t wanted,
                            size_t *capacity, size_t size)
{
    if (wanted <= *capacity)
        return items;
    size_t larger = *capacity ? *capacity * 2 : 8;
    void *moved = arena_zalloc(arena, larger * size);
    if (count)
        memcpy(moved, items, count * size);
    *capacity = larger;
    return moved;
}

void pod_strings_add(struct arena *arena, struct pod_strings *list, const char *text)
{
    /* One more than the new count, for the NULL after the last item. */
    list->items = spec_grow_list(arena, list->items, list->count, list->count + 2, &list->capacity,
                                 sizeof(char *));
    list->items[list->count++] = text;
    list->items[list->count] = NULL;
}

struct pod_container *pod_spec_add_container(struct arena *arena, struct pod_spec *spec,
                                             const char *name)
{
    spec->containers =
        spec_grow_list(arena, spec->containers, spec->container_count, spec->container_count + 1,
                       &spec->container_capacity, sizeof(*spec->containers));
    struct pod_container *container = &spec->containers[spec->container_count++];
    *container = (struct pod_container){.name = name,
                                        .user = -1,
                                        .group = -1,
                                        .restart = -1,
                                        .capabilities = capabilities_default()};
    return container;
}

struct pod_mount *pod_container_add_mount(struct arena *arena, struct pod_container *container,
                                          const char *target, const char *source)
{
    container->mounts =
        spec_grow_list(arena, container->mounts, container->mount_count, container->mount_count + 1,
                       &container->mount_capacity, sizeof(*container->mounts));
    /* The mounts are sorted by the length of their targets, so that a mount inside another one
     * comes after the outer one. */
    size_t position = container->mount_count++;
    while (position > 0 && strlen(container->mounts[position - 1].target) > strlen(target)) {
        container->mounts[position] = container->mounts[position - 1];
        position--;
    }
    container->mounts[position] = (struct pod_mount){.target = target, .source = source};
    return &container->mounts[position];
}

struct pod_memory *pod_spec_add_memory(struct arena *arena, struct pod_spec *spec, const char *path)
{
    spec->memories =
        spec_grow_list(arena, spec->memories, spec->memory_count, spec->memory_count + 1,
                       &spec->memory_capacity, sizeof(*spec->memories));
    struct pod_memory *memory = &spec->memories[spec->memory_count++];
    *memory = (struct pod_memory){.path = path, .group = -1};
    return memory;
}

struct restart_rule *pod_container_add_rule(struct arena *arena, struct pod_container *container)
{
    struct restart_rules *rules = &container->rules;
    rules->items = spec_grow_list(arena, rules->items, rules->count, rules->count + 1,
                                  &rules->capacity, sizeof(*rules->items));
    return &rules->items[rules->count++];
}

enum restart_policy pod_container_restart(const struct pod_spec *spec,
                                          const struct pod_container *container)
{
    return container->restart < 0 ? spec->restart : (enum restart_policy)container->restart;
}

int pod_spec_store(const char *directory, const struct pod_spec *spec, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/spec", directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_SPEC_MAX);
    pod_spec_write(spec, &text);
    if (text.overflowed)
        return err_set(err, ERR_TOO_LARGE,
                       "arguments and environment of the pod are larger than %d bytes",
                       POD_SPEC_MAX);
    return file_replace(path, text.data, text.size, 0600, err);
}

int pod_spec_load(struct arena *arena, const char *directory, struct pod_spec *ret, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/spec", directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_SPEC_MAX);
    int result = file_read(path, &text, err);
    if (result < 0)
        return result;
    size_t size = text.size;
    if (pod_spec_parse(arena, arena_strndup(arena, text.data, size), size, ret, err) < 0)
        return err_wrap(err, "'%s'", path);
    return 0;
}
