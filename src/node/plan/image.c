/* Plans what a container takes from its image: root, user, working directory and stop signal; see
 * plan/internal.h. */
#include "node/plan/internal.h"

#include "base/str.h"
#include "base/system/file.h"
#include "node/image/name.h"
#include "node/image/user.h"

#include <signal.h>
#include <string.h>

/* Accepts "SIGQUIT", "QUIT" or "3". Returns 0 for anything else. */
int plan_signal_named(const char *text)
{
    int64_t number = 0;
    if (str_to_int64(text, 1, SIGRTMAX, &number, NULL) == 0)
        return (int)number;
    const char *name = str_has_prefix(text, "SIG") ? text + strlen("SIG") : text;
    for (int i = 1; i < SIGRTMAX; i++)
        if (sigabbrev_np(i) && str_eq(sigabbrev_np(i), name))
            return i;
    return 0;
}

/* Finds the container's user, group and home directory. runAsUser is a number; the image may name
 * its user by number or by name. */
static int plan_user(struct planner *p, const struct json *container, struct pod_container *ret)
{
    const struct json *security = json_get(container, "securityContext");
    const struct json *of_pod = json_at(p->input->pod, "spec", "securityContext", NULL);
    int64_t given = json_get_int(security, "runAsUser", json_get_int(of_pod, "runAsUser", -1));
    const char *text =
        given >= 0 ? arena_printf(p->arena, "%lld", (long long)given) : p->image.user;
    struct image_user user;
    int result = image_user_find(p->arena, ret->root, text, &user, p->err);
    if (result < 0)
        return result;
    ret->user = user.user;
    ret->group = user.group;
    p->home = user.home;
    return 0;
}

/* Checks the name of the image here, because the API accepts any text, as in Kubernetes. The
 * message is the kubelet's. */
int plan_check_image_name(struct planner *p, const struct json *container)
{
    const char *text = json_get_string(container, "image", "");
    struct image_name name;
    struct err why = ERR_INIT;
    if (!text[0] || image_name_parse(p->arena, text, &name, &why) == 0)
        return 0;
    return err_set(p->err, ERR_INVALID,
                   "Failed to apply default image tag \"%.200s\": couldn't parse image name "
                   "\"%.200s\": invalid reference format: %s",
                   text, text, why.message);
}

int plan_image(struct planner *p, const struct json *container, struct pod_container *ret)
{
    const struct plan_input *input = p->input;
    const char *name = json_get_string(container, "image", "");
    const char *working_dir = json_get_string(container, "workingDir", "");
    (void)image_table_find(p->arena, input->state_dir, input->images, name, &p->image);
    p->home = NULL;
    const char *directory = working_dir[0] ? working_dir : p->image.directory;
    if (directory[0] && directory[0] != '/') /* container runtimes refuse a relative path too */
        return working_dir[0]
                   ? err_set(p->err, ERR_INVALID, "workingDir '%s' must be an absolute path",
                             working_dir)
                   : err_set(p->err, ERR_INVALID,
                             "the working directory '%s' of image '%s' must be an absolute "
                             "path: give the container a workingDir",
                             directory, name);
    ret->directory = directory[0] ? directory : NULL;
    ret->stop_signal = plan_signal_named(p->image.stop_signal);
    ret->image_id = p->image.digest[0] ? p->image.digest : NULL;
    ret->layer = arena_printf(p->arena, "%s/layers/%s", input->pod_dir, ret->name);
    if (!p->image.root)
        return 0;
    if (!file_exists(p->image.root))
        return err_set(p->err, ERR_NOT_FOUND,
                       "the files of image '%s' are gone from '%s': import or add it again", name,
                       p->image.root);
    ret->root = p->image.root;
    return plan_user(p, container, ret);
}
