/* All processes of the machine as /proc tells of them, and who descends from whom. A table is not
 * of one moment: processes come and go, and change their parents, while it is read. */
#ifndef TRAINYARD_NODE_PROCESS_TABLE_H
#define TRAINYARD_NODE_PROCESS_TABLE_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_entry {
    pid_t pid, parent;
    bool is_dead;            /* it only waits to be reaped */
    unsigned long long born; /* tells it from a later one with its PID, and stays */
    int64_t ticks;           /* the time it had, and the children it has waited for */
};

struct process_table {
    VEC(struct process_entry) all; /* by PID */
};

/* Pure: the text of /proc/PID/stat. */
bool process_entry_parse(const char *stat, struct process_entry *ret);
/* False: there is none. */
bool process_entry_read(pid_t pid, struct process_entry *ret);

void process_table_read(struct process_table *ret);
void process_table_release(struct process_table *table); /* safe on zeroed memory */

/* NULL: it is not there. */
const struct process_entry *process_table_find(const struct process_table *table, pid_t pid);
/* Its ancestor, or itself, whose parent is one of these; NULL: none of them is above it. */
const struct process_entry *process_table_climb(const struct process_table *table,
                                                const struct process_entry *from,
                                                const pid_t *parents, size_t count);

#endif
