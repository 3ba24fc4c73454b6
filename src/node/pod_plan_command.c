/* What a container runs. */
#include "node/pod_plan_internal.h"

#include "base/mem.h"
#include "base/str.h"
#include "node/image_table.h"

/* Where a program looks for ~/.kube and the like. The machine's /root is nothing to write to, so it
 * is /tmp; but a pod that mounts something below /root has it there to be found, as in an image. */
static const char *home_of(const struct json *container)
{
    JSON_EACH (mount, json_get(container, "volumeMounts")) {
        const char *path = json_get_string(mount, "mountPath", "");
        if (str_eq(path, "/root") || str_has_prefix(path, "/root/"))
            return "/root";
    }
    return "/tmp";
}

void planner_default_environment(struct planner *p, const struct json *container,
                                 struct pod_strings *environment)
{
    environment_set(p->arena, environment, "PATH",
                    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
                    ":" IMAGE_TOOLS_DIRECTORY);
    environment_set(p->arena, environment, "HOSTNAME", p->spec->hostname);
    environment_set(p->arena, environment, "HOME", home_of(container));
    /* The machine's home is not ours to write to, but packages installed there must be found. */
    if (p->input->home)
        environment_set(p->arena, environment, "PYTHONUSERBASE",
                        arena_printf(p->arena, "%s/.local", p->input->home));
}

int planner_command(struct planner *p, const struct json *container, struct pod_container *ret)
{
    const struct json *command = json_get(container, "command");
    if (json_count(command) == 0) {
        int result =
            image_table_lookup(p->arena, p->input->images, json_get_string(container, "image", ""),
                               &ret->arguments, p->err);
        if (result < 0)
            return planner_refuse(p, "ErrImageNeverPull", ret->name, result);
    }
    const struct json *lists[] = {command, json_get(container, "args")};
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        JSON_EACH (word, lists[i]) {
            if (json_text(word))
                pod_strings_add(p->arena, &ret->arguments,
                                environment_expand(p->arena, json_text(word), &ret->environment));
        }
    }
    return 0;
}
