/* Reads usage from the kernel's text files. Pure. */
#ifndef TRAINYARD_NODE_LIMITS_USAGE_READ_H
#define TRAINYARD_NODE_LIMITS_USAGE_READ_H

#include <stdbool.h>
#include <stdint.h>

/* Reads how much memory a process uses, not counting file mappings, from the text of
 * /proc/PID/status. Returns false for a kernel thread and for a process that has ended. */
bool usage_read_process_memory(const char *status, int64_t *ret_bytes);

/* Reads how long the machine's processors were busy, in ticks, from /proc/stat. */
bool usage_read_machine_time(const char *stat, int64_t *ret_ticks);

struct machine_memory {
    int64_t total_bytes;
    int64_t working_set_bytes; /* all used memory except inactive file cache */
};
bool usage_read_machine_memory(const char *meminfo, struct machine_memory *ret);

#endif
