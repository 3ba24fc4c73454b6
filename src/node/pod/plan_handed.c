/* Hands a container the programs below the machine's /tmp that its command names; see
 * image/handed.h. */
#include "node/pod/plan_internal.h"

#include "base/str.h"
#include "node/image/handed.h"

#include <string.h>

/* Whether a mount of the container already decides what lies at `path`. */
bool planner_is_covered(const struct pod_container *container, const char *path)
{
    for (size_t i = 0; i < container->mount_count; i++) {
        const char *target = container->mounts[i].target;
        size_t size = strlen(target);
        if (strncmp(path, target, size) == 0 && (path[size] == '/' || path[size] == '\0'))
            return true;
    }
    return false;
}

void planner_hand_programs(struct planner *p, struct pod_container *ret)
{
    for (size_t i = 0; i < ret->arguments.count; i++) {
        const char *entry = image_handed_entry(p->arena, ret->arguments.items[i], i);
        if (entry && !planner_is_covered(ret, entry))
            pod_container_add_mount(p->arena, ret, entry, entry)->read_only = true;
    }
}
