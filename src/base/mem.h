/* Memory allocation that never returns NULL: if memory runs out, the program prints a message and
 * aborts. Therefore every input must have a limit. Other files call these functions instead of
 * malloc(), except where an allocation may fail. */
#ifndef TRAINYARD_BASE_MEM_H
#define TRAINYARD_BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *mem_zalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *mem_calloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *mem_realloc(void *pointer, size_t size) __attribute__((returns_nonnull));
char *mem_strdup(const char *text) __attribute__((malloc, returns_nonnull));
/* Copies exactly `size` bytes and appends a NUL. */
char *mem_strndup(const char *text, size_t size) __attribute__((malloc, returns_nonnull));
char *mem_printf(const char *format, ...)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

/* Makes free() return blocks of 64 KiB and more to the system at once. This works for up to 8192
 * blocks at a time, because the kernel limits the number of mappings per process. By default, after
 * a block of up to 32 MiB is freed, malloc() keeps later freed blocks of up to that size, so a
 * server that has read a few large requests keeps hundreds of megabytes. Must be called before the
 * first thread starts. */
void mem_return_large_blocks(void);

/* Returns free memory to the system. By default, malloc() keeps the free memory between blocks that
 * are in use. After a burst of requests, that may be most of the memory. Takes milliseconds, so
 * call it rarely. */
void mem_trim(void);

/* Prints the message and calls abort(): for programming errors and when memory runs out. */
void mem_panic(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Returns the struct of type `type` whose field `member` is at `pointer`. */
#define CONTAINER_OF(pointer, type, member)                                                        \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
