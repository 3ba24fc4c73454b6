/* Plans the command of a container and its default environment; see plan/internal.h. */
#include "node/plan/internal.h"

#include "base/mem.h"
#include "base/str.h"
#include "node/image/table.h"

#include <string.h>

/* Returns the value of HOME for a container that uses the machine's root. It is /tmp, because a
 * sandbox cannot write to home directories of the machine. If the container mounts a volume at or
 * below /root, HOME is /root, so that programs find files such as ~/.kube there. */
static const char *command_home(const struct json *container)
{
    JSON_EACH (mount, json_get(container, "volumeMounts")) {
        const char *path = json_get_string(mount, "mountPath", "");
        if (str_eq(path, "/root") || str_has_prefix(path, "/root/"))
            return "/root";
    }
    return "/tmp";
}

void plan_default_environment(struct planner *p, const struct json *container,
                              struct pod_strings *environment)
{
    environment_set(p->arena, environment, "PATH",
                    p->home ? IMAGE_PATH : IMAGE_PATH ":" IMAGE_TOOLS_DIRECTORY);
    environment_set(p->arena, environment, "HOSTNAME", p->spec->hostname);
    environment_set(p->arena, environment, "HOME", p->home ? p->home : command_home(container));
    /* HOME is not the home directory of the user who runs the cluster, but Python must find the
     * packages that are installed there. */
    if (p->input->home && !p->home)
        environment_set(p->arena, environment, "PYTHONUSERBASE",
                        arena_printf(p->arena, "%s/.local", p->input->home));
    for (size_t i = 0; i < p->image.environment.count; i++) {
        const char *entry = p->image.environment.items[i], *equals = strchr(entry, '=');
        if (equals)
            environment_set(p->arena, environment,
                            arena_strndup(p->arena, entry, (size_t)(equals - entry)), equals + 1);
    }
}

static void add_words(struct planner *p, const struct json *list, struct pod_container *ret)
{
    JSON_EACH (word, list) {
        if (json_text(word))
            pod_strings_add(p->arena, &ret->arguments,
                            environment_expand(p->arena, json_text(word), &ret->environment));
    }
}

static void add_strings(struct planner *p, const struct pod_strings *list,
                        struct pod_container *ret)
{
    for (size_t i = 0; i < list->count; i++)
        pod_strings_add(p->arena, &ret->arguments, list->items[i]);
}

/* As in Kubernetes, `command` replaces the image's entrypoint and arguments, and `args` replaces
 * only the arguments. */
int plan_command(struct planner *p, const struct json *container, struct pod_container *ret)
{
    const struct json *command = json_get(container, "command"),
                      *args = json_get(container, "args");
    const char *image = json_get_string(container, "image", "");
    if (json_count(command))
        add_words(p, command, ret);
    else
        add_strings(p, &p->image.command, ret);
    if (!json_count(command) && !json_count(args))
        add_strings(p, &p->image.args, ret);
    /* An unknown image has no command. In an image's own root, the arguments alone may name a
     * program. */
    if (!ret->root && !ret->arguments.count)
        return plan_refuse(p, "ErrImageNeverPull", ret->name,
                           image_table_advise(p->arena, image,
                                              json_get_string(container, "imagePullPolicy", ""),
                                              p->err));
    add_words(p, args, ret);
    if (!ret->arguments.count)
        return plan_refuse(p, "CreateContainerError", ret->name,
                           err_set(p->err, ERR_INVALID,
                                   "no command specified: image '%s' has none of its own", image));
    return 0;
}
