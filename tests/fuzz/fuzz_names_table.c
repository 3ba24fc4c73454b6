/* Fuzzes the table of DNS names, which must read back the same after being written, and the parser
 * of resolv.conf. */
#include "base/mem.h"
#include "node/names/resolvers.h"
#include "node/names/table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool read_table(struct names_table *table, const char *text, size_t size, struct buf *ret)
{
    char *copy = memcpy(mem_zalloc(size + 1), text, size);
    struct err err = ERR_INIT;
    names_table_init(table);
    bool is_read = names_table_parse(table, copy, size, &err) == 0;
    if (is_read)
        names_table_write(table, ret);
    names_table_release(table);
    free(copy);
    return is_read;
}

static void check_resolvers(const char *text, size_t size)
{
    struct resolver found[RESOLVERS_MAX];
    char *copy = memcpy(mem_zalloc(size + 1), text, size);
    size_t search_size, whole = strlen(copy);
    if (resolvers_parse(copy, found) > RESOLVERS_MAX)
        mem_panic("more name servers than there is room for");
    resolvers_search(copy, &search_size);
    if (search_size > whole)
        mem_panic("more domains than text");
    int seconds = resolvers_option(copy, "timeout", 2, 30);
    if (seconds < 0 || seconds > 30)
        mem_panic("an option that is out of its bounds");
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct names_table table;
    struct buf first, second;
    if (size > 64 * 1024)
        return 0;
    buf_init(&first, NAMES_TABLE_MAX);
    buf_init(&second, NAMES_TABLE_MAX);
    if (read_table(&table, (const char *)data, size, &first)) {
        if (!read_table(&table, first.data, first.size, &second))
            mem_panic("a table was written but is not read");
        if (strcmp(first.data, second.data) != 0)
            mem_panic("a table is read back as something else");
    }
    check_resolvers((const char *)data, size);
    buf_release(&first);
    buf_release(&second);
    return 0;
}
