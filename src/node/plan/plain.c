/* Plans a container without namespaces. It sees all files of the machine. It has no mounts. A
 * volumeMount is refused unless it is a hostPath at its own path, or a mount of the service account
 * or of a step's wrapper, whose paths are passed in another way. */
#include "node/plan/internal.h"

#include "base/str.h"
#include "base/system/file.h"
#include "kube/object.h"
#include "kube/step_wrapper.h"
#include "node/plan/kubeconfig.h"
#include "node/plan/python.h"
#include "node/pod/record/state.h"
#include "node/process/orphans.h"

#include <string.h>

static const struct volume *plain_find_volume(const struct planner *p, const char *name)
{
    for (size_t i = 0; i < p->volume_count; i++)
        if (str_eq(p->volumes[i].name, name))
            return &p->volumes[i];
    return NULL;
}

/* Whether the mount is a directory of the machine that is mounted at the same path. */
static bool is_in_place(const struct planner *p, const struct json *mount)
{
    const struct volume *volume = plain_find_volume(p, json_get_string(mount, "name", ""));
    const char *path = json_get_string(mount, "mountPath", "");
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    return volume && strlen(volume->source) == size && strncmp(volume->source, path, size) == 0 &&
           !json_get_string(mount, "subPath", "")[0] &&
           !json_get_string(mount, "subPathExpr", "")[0];
}

static bool is_of_wrapper(const struct json *mount)
{
    return str_eq(json_get_string(mount, "name", ""), STEP_WRAPPER_VOLUME) &&
           str_eq(json_get_string(mount, "mountPath", ""), STEP_WRAPPER_DIRECTORY);
}

int plan_check_plain(struct planner *p, const struct json *container,
                     const struct pod_container *planned)
{
    if (planned->root)
        return plan_refuse(
            p, "CreateContainerError", planned->name,
            err_set(p->err, ERR_UNSUPPORTED,
                    "image '%s' has files of its own, and a root of its own needs namespaces, "
                    "which this cluster does without: map the image to a command of this machine "
                    "('trainyard image add'), or allow namespaces ('trainyard status' says how)",
                    json_get_string(container, "image", "")));
    JSON_EACH (mount, json_get(container, "volumeMounts")) {
        const char *path = json_get_string(mount, "mountPath", "");
        if (str_eq(path, POD_ACCOUNT_MOUNT) || is_of_wrapper(mount))
            continue;
        if (is_in_place(p, mount) && json_get_bool(mount, "readOnly", false))
            return plan_refuse(
                p, "FailedMount", planned->name,
                err_set(p->err, ERR_UNSUPPORTED,
                        "MountVolume.SetUp failed for volume \"%s\": it is to be read-only at "
                        "'%s', and that needs namespaces, which this cluster does without: leave "
                        "out readOnly, or allow namespaces ('trainyard status' says how)",
                        json_get_string(mount, "name", ""), path));
        if (is_in_place(p, mount))
            continue;
        return plan_refuse(
            p, "FailedMount", planned->name,
            err_set(p->err, ERR_UNSUPPORTED,
                    "MountVolume.SetUp failed for volume \"%s\": it cannot be mounted at '%s', "
                    "because mounts need namespaces, which this cluster does without: use a "
                    "hostPath volume at its own path, or allow namespaces ('trainyard status' says "
                    "how)",
                    json_get_string(mount, "name", ""), path));
    }
    return 0;
}

/* Without the privilege to become another user, every container runs as the current user. */
static int write_kubeconfig(struct planner *p, const struct pod_container *container,
                            const char *files, const char **ret_path)
{
    const struct plan_kubeconfig kubeconfig = {
        .pod_dir = p->input->pod_dir,
        .uid = kube_meta_uid(p->input->pod),
        .namespace_ = kube_meta_namespace(p->input->pod),
        .files = files,
        .api_port = p->input->api_port,
        .user = p->input->nested ? -1 : container->user,
        .handout_dir = p->input->handout_dir,
    };
    return plan_kubeconfig_write(p->arena, &kubeconfig, ret_path, p->err);
}

void plan_plain_mark(struct planner *p, const struct json *container,
                     struct pod_strings *environment)
{
    const char *name = json_get_string(container, "name", "");
    environment_set(p->arena, environment, ORPHANS_MARK,
                    arena_printf(p->arena, "%s/%s", p->input->pod_dir, name));
}

static void append_to_path(struct planner *p, struct pod_strings *environment,
                           const char *directory, size_t size)
{
    environment_set(p->arena, environment, "PATH",
                    arena_printf(p->arena, "%s:%.*s", environment_get(environment, "PATH"),
                                 (int)size, directory));
}

int plan_plain_environment(struct planner *p, const struct json *container,
                           struct pod_container *ret)
{
    struct pod_strings *environment = &ret->environment;
    const struct node_objects no_services = {.get = p->input->objects->get,
                                             .context = p->input->objects->context};
    const char *kubeconfig;
    environment_add_services(p->arena, &p->facts, &no_services, environment);
    if (p->input->trainer_path)
        append_to_path(p, environment, p->input->trainer_path,
                       (size_t)(strrchr(p->input->trainer_path, '/') - p->input->trainer_path));
    const char *tools = arena_printf(p->arena, "%s/bin", p->input->pod_dir);
    int result = plan_python_link(tools, p->err);
    if (result < 0)
        return result;
    append_to_path(p, environment, tools, strlen(tools));
    _cleanup_free_ char *message = pod_message_path(p->input->pod_dir, ret->name);
    environment_set(p->arena, environment, "TRAINYARD_TERMINATION_LOG", message);
    JSON_EACH (mount, json_get(container, "volumeMounts")) {
        const struct volume *volume = plain_find_volume(p, json_get_string(mount, "name", ""));
        if (!volume || !str_eq(json_get_string(mount, "mountPath", ""), POD_ACCOUNT_MOUNT))
            continue;
        if ((result = write_kubeconfig(p, ret, volume->source, &kubeconfig)) < 0)
            return result;
        environment_set(p->arena, environment, "KUBECONFIG", kubeconfig);
    }
    return 0;
}

static void plain_replace_prefix(struct pod_container *container, const char *word, const char *by)
{
    for (size_t i = 0; by && i < container->arguments.count; i++)
        if (str_eq(container->arguments.items[i], word))
            container->arguments.items[i] = by;
}

/* Replaces the paths of a pipeline step's wrapper, script and output file by their paths in the
 * pod's directory. */
static void find_wrapper(struct planner *p, const struct json *container, struct pod_container *ret)
{
    const struct pod_strings *words = &ret->arguments;
    const struct volume *volume = plain_find_volume(p, STEP_WRAPPER_VOLUME);
    bool is_mounted = false;
    JSON_EACH (mount, json_get(container, "volumeMounts")) {
        is_mounted = is_mounted || is_of_wrapper(mount);
    }
    if (!volume || !is_mounted)
        return;
    _cleanup_free_ char *message = pod_message_path(p->input->pod_dir, ret->name);
    if (words->count > 2 && str_eq(words->items[0], STEP_WRAPPER_PROGRAM) &&
        str_eq(words->items[1], STEP_WRAPPER_OUTPUT))
        words->items[2] = arena_strdup(p->arena, message);
    plain_replace_prefix(ret, STEP_WRAPPER_PROGRAM,
                         arena_printf(p->arena, "%s/step", volume->source));
    plain_replace_prefix(ret, STEP_WRAPPER_SCRIPT,
                         arena_printf(p->arena, "%s/script", volume->source));
}

/* A container without a working directory starts in the pod's directory, because it must not write
 * to the machine's root. This does not apply to other users, who cannot enter the pod's directory.
 */
static void plan_directory(const struct planner *p, struct pod_container *ret)
{
    if (!ret->directory && (p->input->nested || ret->user <= 0))
        ret->directory = ret->layer;
}

/* Replaces programs by their path on the machine. Pods with namespaces find them in
 * IMAGE_TOOLS_DIRECTORY. */
void plan_plain_command(struct planner *p, const struct json *container, struct pod_container *ret)
{
    plain_replace_prefix(ret, IMAGE_TRAINER_PATH, p->input->trainer_path);
    plain_replace_prefix(ret, IMAGE_STEP_PATH, p->input->step_path);
    find_wrapper(p, container, ret);
    plan_directory(p, ret);
}
