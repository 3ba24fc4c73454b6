/* Reads all processes of the machine from /proc, and finds ancestors of a process. A table is not a
 * snapshot of one moment: processes start, end and get other parents while it is read. */
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

/* Parses the text of /proc/PID/stat. Returns false if it is not valid. Pure. */
bool process_entry_parse(const char *stat, struct process_entry *ret);
/* Reads /proc/PID/stat. Returns false if the process does not exist. */
bool process_entry_read(pid_t pid, struct process_entry *ret);

void process_table_read(struct process_table *ret);
void process_table_release(struct process_table *table); /* safe on zeroed memory */

/* Returns the process with this pid, or NULL if the table does not contain it. */
const struct process_entry *process_table_find(const struct process_table *table, pid_t pid);
/* Returns the first process in the chain `from`, its parent, the parent's parent, … whose own
 * parent is in `parents`. Returns NULL if there is none. */
const struct process_entry *process_table_climb(const struct process_table *table,
                                                const struct process_entry *from,
                                                const pid_t *parents, size_t count);

#endif
