/* Allocation that does not return on failure: out of memory aborts with a message, and therefore
 * every input has a limit. Nobody calls malloc() directly. */
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

/* From now on, blocks of 64 KiB and more go back to the system when they are freed, as long as
 * there are at most 8192 of them: the kernel limits the mappings of a process. By default malloc()
 * keeps blocks of up to 32 MiB once it has seen one of that size, and a server that read a few
 * large requests keeps hundreds of megabytes. Call it before the first thread starts. */
void mem_return_large_blocks(void);

/* Give memory that is free back to the system. malloc() keeps what lies between blocks in use, and
 * after a burst that may be most of it. Takes milliseconds, so it is called seldom. */
void mem_trim(void);

/* Say why and abort(): for states that cannot be, and for memory that is not there. */
void mem_panic(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* The struct that holds `pointer` as its `member`. */
#define CONTAINER_OF(pointer, type, member)                                                        \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
