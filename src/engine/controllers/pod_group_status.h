/* What a PodGroup says of its pods. Pure; pod_group_controller.c writes it. */
#ifndef TRAINYARD_ENGINE_POD_GROUP_STATUS_H
#define TRAINYARD_ENGINE_POD_GROUP_STATUS_H

#include "base/json/json.h"

#include <stddef.h>

/* The whole status, in the arena: phase, counts, occupiedBy, scheduleStartTime. Pending: not enough
 * pods; Scheduling: enough, but not enough have a node; Scheduled: they have; Running, Finished,
 * Failed: so many of them are. A group whose pods were cleared away after the end keeps what it
 * said last. */
struct json *pod_group_status(struct arena *arena, const struct json *group,
                              const struct json *const *pods, size_t count, int64_t now_ms);

#endif
