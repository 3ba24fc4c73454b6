/* Implements memory allocation that never returns NULL; see mem.h. */
#include "base/mem.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE_BLOCK = 64 * 1024, LARGE_BLOCKS_MAX = 8192 };

void mem_panic(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("panic: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}

static void *mem_check(void *pointer, size_t size)
{
    if (!pointer)
        mem_panic("out of memory: cannot allocate %zu bytes", size);
    return pointer;
}

void *mem_alloc(size_t size)
{
    return mem_check(malloc(size ? size : 1), size);
}

void *mem_zalloc(size_t size)
{
    return mem_check(calloc(1, size ? size : 1), size);
}

void *mem_calloc(size_t count, size_t size)
{
    return mem_check(calloc(count ? count : 1, size ? size : 1), count * size);
}

void *mem_realloc(void *pointer, size_t size)
{
    return mem_check(realloc(pointer, size ? size : 1), size);
}

char *mem_strndup(const char *text, size_t size)
{
    char *copy = mem_alloc(size + 1);
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

char *mem_strdup(const char *text)
{
    return mem_strndup(text, strlen(text));
}

char *mem_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        mem_panic("out of memory while formatting");
    va_end(args);
    return text;
}

void mem_return_large_blocks(void)
{
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
    mallopt(M_MMAP_MAX, LARGE_BLOCKS_MAX);
}

void mem_trim(void)
{
    malloc_trim(0);
}
