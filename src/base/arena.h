/* Memory with one owner and one end: a request, a reconcile or a command allocates from its arena
 * and frees all of it at once. Nothing allocated here is freed alone. */
#ifndef TRAINYARD_BASE_ARENA_H
#define TRAINYARD_BASE_ARENA_H

#include "base/cleanup.h"

#include <stdarg.h>
#include <stddef.h>

struct arena;

struct arena *arena_new(void);
/* For what is known to be small and lives long: the first chunk has so many bytes. */
struct arena *arena_new_sized(size_t size);
struct arena *arena_free(struct arena *arena); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(arena)

/* Forget all allocations but keep one chunk for the next use. */
void arena_reset(struct arena *arena);

/* Aligned for any type; texts are packed. arena_zalloc gives zeroed memory. */
void *arena_alloc(struct arena *arena, size_t size) __attribute__((returns_nonnull));
void *arena_zalloc(struct arena *arena, size_t size) __attribute__((returns_nonnull));
char *arena_strdup(struct arena *arena, const char *text) __attribute__((returns_nonnull));
char *arena_strndup(struct arena *arena, const char *text, size_t size)
    __attribute__((returns_nonnull));
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((returns_nonnull, format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args)
    __attribute__((returns_nonnull, format(printf, 2, 0)));

/* Call `end` with `context` when the arena is freed or reset: what its user holds for as long. The
 * last one asked for comes first. */
void arena_defer(struct arena *arena, void (*end)(void *context), void *context);

/* Bytes handed out since new or reset: an arena of that size takes the same allocations in one
 * chunk. */
size_t arena_used(const struct arena *arena);

#define ARENA_NEW(arena, type)          ((type *)arena_zalloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_zalloc((arena), sizeof(type) * (count)))

#endif
