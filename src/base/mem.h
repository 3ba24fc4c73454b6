/* Memory allocation that never returns NULL: out of memory ends the program with a message.
 * Therefore every input has a limit. The rest of the program calls these functions instead of
 * malloc(). */
#ifndef TRAINYARD_BASE_MEM_H
#define TRAINYARD_BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *mem_zalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *mem_calloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *mem_realloc(void *pointer, size_t size) __attribute__((returns_nonnull));
char *mem_strdup(const char *text) __attribute__((malloc, returns_nonnull));
char *mem_strndup(const char *text, size_t size) __attribute__((malloc, returns_nonnull));
char *mem_printf(const char *format, ...)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

/* From now on, freed blocks of 64 KiB and more return to the system at once. This holds for up to
 * 8192 blocks, because the kernel limits the mappings of a process. By default malloc() keeps freed
 * blocks of up to 32 MiB once it has freed one of that size, so a server that read a few large
 * requests keeps hundreds of megabytes. Must be called before the first thread starts. */
void mem_return_large_blocks(void);

/* Returns free memory to the system. malloc() keeps free memory between blocks in use, which may be
 * most of the memory after a burst. Takes milliseconds, so call it rarely. */
void mem_trim(void);

/* Prints the message and calls abort(): for defects and for lack of memory. */
void mem_panic(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* The struct of which `pointer` is the `member`. */
#define CONTAINER_OF(pointer, type, member)                                                        \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
