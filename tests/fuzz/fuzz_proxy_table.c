/* Fuzzes the proxy's table, which must read back the same after being written. */
#include "base/mem.h"
#include "node/service/proxy_table.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    struct proxy_table table;
    struct err err = ERR_INIT;
    struct buf first, second;
    buf_init(&first, PROXY_TABLE_MAX);
    buf_init(&second, PROXY_TABLE_MAX);
    char *copy = memcpy(arena_zalloc(arena, size + 1), data, size);
    if (size <= 64 * 1024 && proxy_table_parse(arena, copy, size, &table, &err) == 0) {
        proxy_table_write(&table, &first);
        char *again = memcpy(arena_zalloc(arena, first.size + 1), first.data, first.size);
        if (proxy_table_parse(arena, again, first.size, &table, &err) < 0)
            mem_panic("a table was written but is not read: %s", err.message);
        proxy_table_write(&table, &second);
        if (strcmp(first.data, second.data) != 0)
            mem_panic("a table is read back as something else");
    }
    buf_release(&first);
    buf_release(&second);
    arena_free(arena);
    return 0;
}
