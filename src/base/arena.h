/* An arena: memory that is allocated piece by piece and freed all at once. Each request, reconcile
 * and command has its own arena, which is freed when the work is done. A single allocation cannot
 * be freed. */
#ifndef TRAINYARD_BASE_ARENA_H
#define TRAINYARD_BASE_ARENA_H

#include "base/cleanup.h"

#include <stdarg.h>
#include <stddef.h>

struct arena;

struct arena *arena_new(void);
/* Like arena_new(), but the first chunk has `size` bytes. Meant for a small arena that lives
 * long. */
struct arena *arena_new_sized(size_t size);
struct arena *arena_free(struct arena *arena); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(arena)

/* Frees all allocations, but keeps one chunk for the next use. */
void arena_reset(struct arena *arena);

/* arena_alloc() and arena_zalloc() return memory that is aligned for any type; arena_zalloc()
 * clears it. Strings are allocated without padding. */
void *arena_alloc(struct arena *arena, size_t size) __attribute__((returns_nonnull));
void *arena_zalloc(struct arena *arena, size_t size) __attribute__((returns_nonnull));
char *arena_strdup(struct arena *arena, const char *text) __attribute__((returns_nonnull));
/* Copies exactly `size` bytes and appends a NUL. */
char *arena_strndup(struct arena *arena, const char *text, size_t size)
    __attribute__((returns_nonnull));
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((returns_nonnull, format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args)
    __attribute__((returns_nonnull, format(printf, 2, 0)));

/* Calls `end` with `context` when the arena is freed or reset. Meant for other resources with the
 * lifetime of the arena. The callbacks run in the reverse order of their registration. */
void arena_defer(struct arena *arena, void (*end)(void *context), void *context);

/* Returns the number of bytes allocated since the arena was created or reset. If that number is
 * passed to arena_new_sized(), the first chunk has room for the same allocations. */
size_t arena_used(const struct arena *arena);

#define ARENA_NEW(arena, type)          ((type *)arena_zalloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_zalloc((arena), sizeof(type) * (count)))

#endif
