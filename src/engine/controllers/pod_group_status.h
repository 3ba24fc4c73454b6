/* The status of a PodGroup, from its pods. Pure; pod_group_controller.c writes it. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_POD_GROUP_STATUS_H
#define TRAINYARD_ENGINE_CONTROLLERS_POD_GROUP_STATUS_H

#include "base/json/json.h"

#include <stddef.h>

/* Returns the whole status, in the arena: phase, counts, occupiedBy, scheduleStartTime. "Enough"
 * means at least minMember pods. The phase is the last one in this list whose condition is met.
 * Pending: too few pods exist. Scheduling: enough pods exist that have not failed and are not being
 * deleted. Scheduled: enough pods that have not failed have a node. Running: enough run or have
 * succeeded. Failed: a pod has failed, and enough run or have ended. Finished: enough have
 * succeeded. If all pods of a group were deleted after the phase Failed or Finished, the group
 * keeps its status. */
struct json *pod_group_status(struct arena *arena, const struct json *group,
                              const struct json *const *pods, size_t count, int64_t now_ms);

#endif
