/* Detects that the machine is about to run out of a resource, for the conditions MemoryPressure,
 * DiskPressure and PIDPressure of its nodes. The registrar (node_object.c) calls it at every
 * heartbeat. A node under pressure gets a taint, so that most new pods are not bound to it. So the
 * thresholds are low: a laptop whose disk is 90% full still gets pods. */
#ifndef TRAINYARD_NODE_NODE_PRESSURE_H
#define TRAINYARD_NODE_NODE_PRESSURE_H

#include "base/json/json.h"

enum node_pressure_kind { PRESSURE_MEMORY, PRESSURE_DISK, PRESSURE_PIDS, PRESSURE_KINDS };

/* The amount of each resource that is left. INT64_MAX means that the amount is not known. */
struct node_room {
    int64_t memory_bytes;           /* free memory, and page cache that was not used recently */
    int64_t disk_bytes, disk_files; /* in the file system of the state directory */
    int64_t tasks;                  /* processes and threads that can still be started */
};
/* Reads the amounts from the kernel. */
void node_room_read(const char *state_dir, struct node_room *ret);

struct node_pressure {
    bool is_high[PRESSURE_KINDS];
    int64_t since_ms[PRESSURE_KINDS]; /* the wall time at which is_high changed last, or of
                                         node_pressure_init() */
};
/* Marks every resource as not under pressure since `now_ms`. */
void node_pressure_init(struct node_pressure *pressure, int64_t now_ms);
/* Compares the amounts in `room` with the thresholds, and sets which resources are under pressure.
 * Pure. */
void node_pressure_update(struct node_pressure *pressure, const struct node_room *room,
                          int64_t now_ms);

/* The fields of the Node's condition for one resource. */
struct node_pressure_words {
    const char *type, *status, *reason, *message;
};
struct node_pressure_words node_pressure_words(const struct node_pressure *pressure,
                                               enum node_pressure_kind kind);

#endif
