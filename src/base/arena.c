/* Implements arenas; see arena.h. Allocations are taken from the first chunk of a list. If it has
 * no room, a new first chunk is allocated, twice as large, up to CHUNK_MAX. An allocation that is
 * too large for such a chunk gets its own chunk, which is inserted after the first chunk. So the
 * first chunk stays in use, and a large allocation does not change the size of later chunks. */
#include "base/arena.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK_FIRST = 4096, CHUNK_MAX = 1 << 20 };

struct chunk {
    struct chunk *next;
    size_t size;
    size_t used;
    max_align_t data[];
};

/* A callback of arena_defer(). It is allocated in the arena itself. */
struct deferred {
    struct deferred *next;
    void (*end)(void *context);
    void *context;
};

struct arena {
    struct chunk *chunks; /* the first chunk is used for small allocations */
    size_t used;          /* bytes of all allocations, including their alignment */
    struct deferred *deferred;
};

static struct chunk *chunk_new(size_t size, struct chunk *next)
{
    struct chunk *chunk = mem_alloc(sizeof(*chunk) + size);
    *chunk = (struct chunk){.next = next, .size = size};
    return chunk;
}

struct arena *arena_new_sized(size_t size)
{
    struct arena *arena = mem_zalloc(sizeof(*arena));
    arena->chunks = chunk_new(size, NULL);
    return arena;
}

struct arena *arena_new(void)
{
    return arena_new_sized(CHUNK_FIRST);
}

static void run_deferred(struct arena *arena)
{
    struct deferred *deferred;
    while ((deferred = arena->deferred)) {
        arena->deferred = deferred->next;
        deferred->end(deferred->context);
    }
}

struct arena *arena_free(struct arena *arena)
{
    if (!arena)
        return NULL;
    run_deferred(arena);
    for (struct chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(arena);
    return NULL;
}

void arena_reset(struct arena *arena)
{
    run_deferred(arena);
    struct chunk *kept = arena->chunks;
    for (struct chunk *chunk = kept->next, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    kept->next = NULL;
    kept->used = 0;
    arena->used = 0;
}

static size_t round_up(size_t size, size_t align)
{
    return (size + align - 1) & ~(align - 1);
}

static void *arena_take(struct arena *arena, size_t size, size_t align)
{
    if (size > SIZE_MAX / 2)
        mem_panic("arena: cannot allocate %zu bytes", size);
    struct chunk *chunk = arena->chunks;
    size_t start = round_up(chunk->used, align);
    if (chunk->size < start || chunk->size - start < size) {
        size_t grown = chunk->size * 2 > CHUNK_MAX ? CHUNK_MAX : chunk->size * 2;
        if (grown < CHUNK_FIRST)
            grown = CHUNK_FIRST;
        if (size > grown)
            chunk = chunk->next = chunk_new(size, chunk->next);
        else
            chunk = arena->chunks = chunk_new(grown, chunk);
        start = 0;
    }
    chunk->used = start + size;
    arena->used = round_up(arena->used, align) + size;
    return (char *)chunk->data + start;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    return arena_take(arena, size, _Alignof(max_align_t));
}

void *arena_zalloc(struct arena *arena, size_t size)
{
    return memset(arena_alloc(arena, size), 0, size);
}

char *arena_strndup(struct arena *arena, const char *text, size_t size)
{
    char *copy = arena_take(arena, size + 1, 1);
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

/* Prints into the free space of the first chunk. Prints a second time only if that space was too
 * small. */
char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    struct chunk *chunk = arena->chunks;
    size_t room = chunk->size - chunk->used;
    va_list again;
    va_copy(again, args);
    int size = vsnprintf((char *)chunk->data + chunk->used, room, format, args);
    if (size < 0)
        mem_panic("arena: bad format '%s'", format);
    char *text = arena_take(arena, (size_t)size + 1, 1);
    if ((size_t)size >= room)
        vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

void arena_defer(struct arena *arena, void (*end)(void *context), void *context)
{
    struct deferred *deferred = arena_alloc(arena, sizeof(*deferred));
    *deferred = (struct deferred){arena->deferred, end, context};
    arena->deferred = deferred;
}

size_t arena_used(const struct arena *arena)
{
    return arena->used;
}
