/* Whether the machine is about to run out of something: the conditions MemoryPressure, DiskPressure
 * and PIDPressure of its nodes. A node under pressure gets no new pods, so they are for the case of
 * need only: a laptop with a disk that is nine tenths full goes on working. */
#ifndef TRAINYARD_NODE_NODE_PRESSURE_H
#define TRAINYARD_NODE_NODE_PRESSURE_H

#include "base/json/json.h"

enum node_pressure_kind { PRESSURE_MEMORY, PRESSURE_DISK, PRESSURE_PIDS, PRESSURE_KINDS };

/* How much is left; INT64_MAX of what cannot be told. */
struct node_room {
    int64_t memory_bytes;           /* with the cache that can be dropped */
    int64_t disk_bytes, disk_files; /* where the state directory is */
    int64_t tasks;
};
void node_room_read(const char *state_dir, struct node_room *ret);

struct node_pressure {
    bool is_high[PRESSURE_KINDS];
    int64_t since_ms[PRESSURE_KINDS]; /* when that last changed */
};
/* At birth nothing is short, since now. */
void node_pressure_init(struct node_pressure *pressure, int64_t now_ms);
/* Pure. */
void node_pressure_update(struct node_pressure *pressure, const struct node_room *room,
                          int64_t now_ms);

struct node_pressure_words {
    const char *type, *status, *reason, *message;
};
struct node_pressure_words node_pressure_words(const struct node_pressure *pressure,
                                               enum node_pressure_kind kind);

#endif
