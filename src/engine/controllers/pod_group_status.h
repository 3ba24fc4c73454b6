/* The status of a PodGroup, from its pods. Pure; pod_group_controller.c writes it. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_POD_GROUP_STATUS_H
#define TRAINYARD_ENGINE_CONTROLLERS_POD_GROUP_STATUS_H

#include "base/json/json.h"

#include <stddef.h>

/* Returns the whole status, in the arena: phase, counts, occupiedBy, scheduleStartTime. "Enough"
 * means at least minMember pods. Pending: too few pods exist. Scheduling: enough exist. Scheduled:
 * enough have a node. Running: enough run or have succeeded. Failed: a pod has failed, and enough
 * run or have ended. Finished: enough have succeeded. A group whose pods were deleted after the end
 * keeps its last status. */
struct json *pod_group_status(struct arena *arena, const struct json *group,
                              const struct json *const *pods, size_t count, int64_t now_ms);

#endif
