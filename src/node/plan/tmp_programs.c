/* Mounts programs below the machine's /tmp into a container whose command names them; see
 * plan/internal.h and image/tmp_program.h. */
#include "node/plan/internal.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "node/image/tmp_program.h"

#include <stdlib.h>
#include <string.h>

bool plan_is_covered(const struct pod_container *container, const char *path)
{
    for (size_t i = 0; i < container->mount_count; i++) {
        const char *target = container->mounts[i].target;
        size_t size = strlen(target);
        if (strncmp(path, target, size) == 0 && (path[size] == '/' || path[size] == '\0'))
            return true;
    }
    return false;
}

const char *plan_real_path(struct planner *p, const char *path)
{
    _cleanup_free_ char *real = realpath(path, NULL);
    return real ? arena_strdup(p->arena, real) : path;
}

/* Returns the source of the mount of an entry of /tmp. The machine's /tmp may be a symbolic link,
 * so its path is resolved. The entry itself is not resolved: if a link replaces the entry later,
 * the mount must not follow the link. */
static const char *entry_source(struct planner *p, const char *entry)
{
    const char *slash = strrchr(entry, '/');
    const char *top = arena_strndup(p->arena, entry, (size_t)(slash - entry));
    return arena_printf(p->arena, "%s%s", plan_real_path(p, top), slash);
}

void plan_tmp_programs(struct planner *p, struct pod_container *ret)
{
    for (size_t i = 0; i < ret->arguments.count; i++) {
        const char *entry = image_tmp_program_entry(p->arena, ret->arguments.items[i], i);
        if (entry && !plan_is_covered(ret, entry))
            pod_container_add_mount(p->arena, ret, entry, entry_source(p, entry))->read_only = true;
    }
}
