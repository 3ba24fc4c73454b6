/* What the kernel says of processes, of memory and of processors, read from its texts. Pure. */
#ifndef TRAINYARD_NODE_LIMITS_USAGE_READ_H
#define TRAINYARD_NODE_LIMITS_USAGE_READ_H

#include <stdbool.h>
#include <stdint.h>

/* /proc/PID/status: memory that is its own, files apart. */
bool usage_read_process_memory(const char *status, int64_t *ret_bytes);

/* /proc/stat: how long the machine's processors were busy, in ticks. */
bool usage_read_machine_time(const char *stat, int64_t *ret_ticks);

struct machine_memory {
    int64_t total_bytes;
    int64_t working_set_bytes; /* all that is used less idle cache of files */
};
bool usage_read_machine_memory(const char *meminfo, struct machine_memory *ret);

#endif
