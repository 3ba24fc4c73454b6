/* Stores the names of the cluster and their DNS records. The control process writes the table as
 * text for the responder: one line "name NAME" per name, and after it the records of the name, one
 * line each: "address ADDRESS", "alias NAME", "pointer NAME" or "port NUMBER TARGET". The parser
 * checks every value. */
#ifndef TRAINYARD_NODE_NAMES_TABLE_H
#define TRAINYARD_NODE_NAMES_TABLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

enum { NAMES_TABLE_MAX = 64 * 1024 * 1024 }; /* bytes of text */

/* An SRV record. */
struct names_port {
    uint16_t number;
    const char *target; /* a name */
};

/* A name and its records. An entry without records is a name that exists, but has no data: the
 * parent of other names, or for example a headless service without endpoints. */
struct names_entry {
    const char *name;
    const char *alias;         /* CNAME, or NULL */
    struct in_addr *addresses; /* A */
    size_t address_count, address_capacity;
    const char **pointers; /* PTR */
    size_t pointer_count, pointer_capacity;
    struct names_port *ports; /* SRV */
    size_t port_count, port_capacity;
};

struct names_table {
    struct arena *arena;
    struct map entries; /* struct names_entry by name */
};

void names_table_init(struct names_table *table);
void names_table_release(struct names_table *table);

/* Returns the entry of this name. Creates it and its parent names if they are missing. Returns NULL
 * if the name is not a valid DNS name. */
struct names_entry *names_table_add(struct names_table *table, const char *name);
/* Returns the entry of this name, or NULL. */
const struct names_entry *names_table_find(const struct names_table *table, const char *name);

/* Each adds a record to the entry. Adding the same record again has no effect. */
void names_entry_add_address(struct names_table *table, struct names_entry *entry,
                             struct in_addr address);
void names_entry_add_pointer(struct names_table *table, struct names_entry *entry,
                             const char *name);
void names_entry_add_port(struct names_table *table, struct names_entry *entry, uint16_t number,
                          const char *target);

/* Writes the entries sorted by name, so that equal tables have equal texts. */
void names_table_write(const struct names_table *table, struct buf *buf);
/* Parses the text into an empty table. Modifies `text`. Returns 0, or a negative code for an
 * invalid line. The table then has the lines before it. */
int names_table_parse(struct names_table *table, char *text, size_t size, struct err *err);

#endif
