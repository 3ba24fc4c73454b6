/* Stores, writes and parses the table of names; see names/table.h. */
#include "node/names/table.h"

#include "base/mem.h"
#include "base/str.h"
#include "net/dns/message.h"
#include "node/pod/record/record.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

void names_table_init(struct names_table *table)
{
    table->arena = arena_new();
    map_init(&table->entries);
}

void names_table_release(struct names_table *table)
{
    map_release(&table->entries);
    table->arena = arena_free(table->arena);
}

const struct names_entry *names_table_find(const struct names_table *table, const char *name)
{
    return map_get(&table->entries, name);
}

struct names_entry *names_table_add(struct names_table *table, const char *name)
{
    struct names_entry *entry = map_get(&table->entries, name);
    if (entry || !dns_is_name(name))
        return entry;
    entry = ARENA_NEW(table->arena, struct names_entry);
    entry->name = arena_strdup(table->arena, name);
    map_put(&table->entries, name, entry);
    const char *dot = strchr(name, '.');
    if (dot)
        names_table_add(table, dot + 1);
    return entry;
}

static void *names_table_grow(struct arena *arena, void *items, size_t count, size_t *capacity,
                              size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity ? *capacity * 2 : 2;
    void *larger = arena_zalloc(arena, *capacity * size);
    return count ? memcpy(larger, items, count * size) : larger;
}

void names_entry_add_address(struct names_table *table, struct names_entry *entry,
                             struct in_addr address)
{
    for (size_t i = 0; i < entry->address_count; i++)
        if (entry->addresses[i].s_addr == address.s_addr)
            return;
    entry->addresses = names_table_grow(table->arena, entry->addresses, entry->address_count,
                                        &entry->address_capacity, sizeof(*entry->addresses));
    entry->addresses[entry->address_count++] = address;
}

void names_entry_add_pointer(struct names_table *table, struct names_entry *entry, const char *name)
{
    for (size_t i = 0; i < entry->pointer_count; i++)
        if (str_eq(entry->pointers[i], name))
            return;
    entry->pointers = names_table_grow(table->arena, entry->pointers, entry->pointer_count,
                                       &entry->pointer_capacity, sizeof(*entry->pointers));
    entry->pointers[entry->pointer_count++] = arena_strdup(table->arena, name);
}

void names_entry_add_port(struct names_table *table, struct names_entry *entry, uint16_t number,
                          const char *target)
{
    for (size_t i = 0; i < entry->port_count; i++)
        if (entry->ports[i].number == number && str_eq(entry->ports[i].target, target))
            return;
    entry->ports = names_table_grow(table->arena, entry->ports, entry->port_count,
                                    &entry->port_capacity, sizeof(*entry->ports));
    entry->ports[entry->port_count++] =
        (struct names_port){number, arena_strdup(table->arena, target)};
}

/* ---- as text --------------------------------------------------------------------------------- */

static int compare_entries(const void *a, const void *b)
{
    return strcmp((*(const struct names_entry *const *)a)->name,
                  (*(const struct names_entry *const *)b)->name);
}

static void names_table_write_entry(const struct names_entry *entry, struct buf *buf)
{
    record_write(buf, "name", entry->name);
    if (entry->alias)
        record_write(buf, "alias", entry->alias);
    for (size_t i = 0; i < entry->address_count; i++) {
        char text[INET_ADDRSTRLEN];
        inet_ntop(AF_INET, &entry->addresses[i], text, sizeof(text));
        record_write(buf, "address", text);
    }
    for (size_t i = 0; i < entry->pointer_count; i++)
        record_write(buf, "pointer", entry->pointers[i]);
    for (size_t i = 0; i < entry->port_count; i++) {
        _cleanup_free_ char *text =
            mem_printf("%u %s", entry->ports[i].number, entry->ports[i].target);
        record_write(buf, "port", text);
    }
}

void names_table_write(const struct names_table *table, struct buf *buf)
{
    size_t count = 0;
    const struct names_entry **sorted =
        mem_alloc((table->entries.count + 1) * sizeof(const struct names_entry *));
    const char *name;
    void *entry;
    for (size_t i = 0; map_next(&table->entries, &i, &name, &entry);)
        sorted[count++] = entry;
    if (count)
        qsort(sorted, count, sizeof(const struct names_entry *), compare_entries);
    for (size_t i = 0; i < count; i++)
        names_table_write_entry(sorted[i], buf);
    free(sorted);
}

static bool parse_port(struct names_table *table, struct names_entry *entry, char *value)
{
    char *target = strchr(value, ' ');
    int64_t number;
    if (!target)
        return false;
    *target++ = '\0';
    if (str_to_int64(value, 1, 65535, &number, NULL) < 0 || !dns_is_name(target))
        return false;
    names_entry_add_port(table, entry, (uint16_t)number, target);
    return true;
}

/* Adds one record to `*entry`, or starts a new entry. Returns false if the record is not valid. */
static bool parse_line(struct names_table *table, struct names_entry **entry, const char *key,
                       char *value)
{
    struct in_addr address;
    if (str_eq(key, "name"))
        return (*entry = names_table_add(table, value)) != NULL;
    if (!*entry)
        return false;
    if (str_eq(key, "port"))
        return parse_port(table, *entry, value);
    if (str_eq(key, "address")) {
        if (inet_pton(AF_INET, value, &address) != 1)
            return false;
        names_entry_add_address(table, *entry, address);
        return true;
    }
    if (!dns_is_name(value))
        return false;
    if (str_eq(key, "pointer"))
        names_entry_add_pointer(table, *entry, value);
    else if (str_eq(key, "alias"))
        (*entry)->alias = arena_strdup(table->arena, value);
    else
        return false;
    return true;
}

int names_table_parse(struct names_table *table, char *text, size_t size, struct err *err)
{
    struct record_reader reader;
    struct names_entry *entry = NULL;
    const char *key;
    char *value;
    int result;
    record_reader_init(&reader, text, size);
    while ((result = record_next(&reader, &key, &value, err)) > 0)
        if (!parse_line(table, &entry, key, value))
            return err_set(err, ERR_BAD_REQUEST, "line %u: '%.64s %.64s' is not expected here",
                           reader.line, key, value);
    return result;
}
