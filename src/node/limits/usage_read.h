/* Parses the kernel's text files about memory and CPU time. Pure: the callers read the files. */
#ifndef TRAINYARD_NODE_LIMITS_USAGE_READ_H
#define TRAINYARD_NODE_LIMITS_USAGE_READ_H

#include <stdbool.h>
#include <stdint.h>

/* Finds how much memory a process uses, not counting file mappings, in the text of
 * /proc/PID/status. Returns false for a kernel thread and for a process that has ended. */
bool usage_read_process_memory(const char *status, int64_t *ret_bytes);

/* Finds how long the machine's processors were busy, in clock ticks, in the text of /proc/stat.
 * Returns false if the text is not valid. */
bool usage_read_machine_time(const char *stat, int64_t *ret_ticks);

struct machine_memory {
    int64_t total_bytes;
    int64_t working_set_bytes; /* all used memory except inactive file cache */
};
/* Parses the text of /proc/meminfo. Returns false if a number is missing. */
bool usage_read_machine_memory(const char *meminfo, struct machine_memory *ret);

#endif
