/* All processes of the machine as /proc shows them, and their ancestry. A table is not a snapshot
 * of one moment: processes start, end and change their parents while it is read. */
#ifndef TRAINYARD_NODE_PROCESS_TABLE_H
#define TRAINYARD_NODE_PROCESS_TABLE_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_entry {
    pid_t pid, parent;
    bool is_dead;            /* a zombie that waits to be reaped */
    unsigned long long born; /* the start time in clock ticks; unique together with the pid */
    int64_t ticks;           /* CPU time in clock ticks, including that of reaped children */
};

struct process_table {
    VEC(struct process_entry) all; /* sorted by pid */
};

/* Parses the text of /proc/PID/stat. Pure. */
bool process_entry_parse(const char *stat, struct process_entry *ret);
/* Returns false if there is no such process. */
bool process_entry_read(pid_t pid, struct process_entry *ret);

void process_table_read(struct process_table *ret);
void process_table_release(struct process_table *table); /* safe on zeroed memory */

/* Returns NULL if there is no such process. */
const struct process_entry *process_table_find(const struct process_table *table, pid_t pid);
/* Climbs from `from` through its ancestors to the first process whose parent is in `parents`,
 * perhaps `from` itself. Returns NULL if there is none. */
const struct process_entry *process_table_climb(const struct process_table *table,
                                                const struct process_entry *from,
                                                const pid_t *parents, size_t count);

#endif
