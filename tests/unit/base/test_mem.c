/* Tests that freed memory returns to the system. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 2000, BLOCK_SIZE = 32 * 1024 };

static long resident_bytes(void)
{
    long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &size, &pages), 2);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Large free blocks between small blocks in use: malloc() alone keeps all of them. */
static void trim_returns_free_blocks_between_used_blocks(void **state)
{
#ifdef SANITIZED
    skip(); /* sanitizers have their own allocator */
#endif
    static char *large[BLOCKS], *small[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        large[i] = mem_alloc(BLOCK_SIZE);
        memset(large[i], 1, BLOCK_SIZE);
        small[i] = mem_zalloc(16);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        free(large[i]);
    long before = resident_bytes();
    mem_trim();
    assert_true(before - resident_bytes() > BLOCKS * BLOCK_SIZE / 2);
    for (size_t i = 0; i < BLOCKS; i++)
        free(small[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trim_returns_free_blocks_between_used_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
