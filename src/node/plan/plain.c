/* Plans a container without namespaces; see plan/internal.h. The container sees all files of the
 * machine and has no mounts. So a volumeMount is refused, with three exceptions: a writable mount
 * of a directory of the machine at its own path, the files of the service account, and the wrapper
 * of a pipeline step. The container gets the real paths of the last two in KUBECONFIG and in its
 * command. */
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

/* Returns whether the volume is a directory of the machine and the mountPath is the path of this
 * directory. */
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
                    "image '%s' has files of its own, which need namespaces, but this cluster runs "
                    "without them: map the image to a command of this machine ('trainyard image "
                    "add'), or allow namespaces ('trainyard status' says how)",
                    json_get_string(container, "image", "")));
    JSON_EACH (mount, json_get(container, "volumeMounts")) {
        const char *path = json_get_string(mount, "mountPath", "");
        if (str_eq(path, POD_ACCOUNT_MOUNT) || is_of_wrapper(mount))
            continue;
        if (is_in_place(p, mount) && json_get_bool(mount, "readOnly", false))
            return plan_refuse(
                p, "FailedMount", planned->name,
                err_set(p->err, ERR_UNSUPPORTED,
                        "MountVolume.SetUp failed for volume \"%s\": a read-only mount at '%s' "
                        "needs namespaces, but this cluster runs without them: leave out readOnly, "
                        "or allow namespaces ('trainyard status' says how)",
                        json_get_string(mount, "name", ""), path));
        if (is_in_place(p, mount))
            continue;
        return plan_refuse(
            p, "FailedMount", planned->name,
            err_set(p->err, ERR_UNSUPPORTED,
                    "MountVolume.SetUp failed for volume \"%s\": it cannot be mounted at '%s', "
                    "because this cluster runs without namespaces: use a hostPath volume whose "
                    "mountPath equals its path, or allow namespaces ('trainyard status' says how)",
                    json_get_string(mount, "name", ""), path));
    }
    return 0;
}

/* Without the privilege to become another user (`nested`), every container runs as the current
 * user. */
static int plain_write_kubeconfig(struct planner *p, const struct pod_container *container,
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

/* Appends a directory to PATH. `directory` need not end after `size` bytes. */
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
        if ((result = plain_write_kubeconfig(p, ret, volume->source, &kubeconfig)) < 0)
            return result;
        environment_set(p->arena, environment, "KUBECONFIG", kubeconfig);
    }
    return 0;
}

/* Replaces each argument that equals `word`. Does nothing if `by` is NULL. */
static void plain_replace_word(struct pod_container *container, const char *word, const char *by)
{
    for (size_t i = 0; by && i < container->arguments.count; i++)
        if (str_eq(container->arguments.items[i], word))
            container->arguments.items[i] = by;
}

/* In the command of a pipeline step, replaces the paths of the wrapper, the script and the output
 * file by their paths in the pod's directory. */
static void plain_replace_wrapper(struct planner *p, const struct json *container,
                                  struct pod_container *ret)
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
    plain_replace_word(ret, STEP_WRAPPER_PROGRAM,
                       arena_printf(p->arena, "%s/step", volume->source));
    plain_replace_word(ret, STEP_WRAPPER_SCRIPT,
                       arena_printf(p->arena, "%s/script", volume->source));
}

/* A container without a working directory starts in its layer directory (struct pod_container),
 * because it must not write to the machine's root. A container that runs as another user starts in
 * "/", because this user cannot enter the pod's directory. */
static void plain_set_directory(const struct planner *p, struct pod_container *ret)
{
    if (!ret->directory && (p->input->nested || ret->user <= 0))
        ret->directory = ret->layer;
}

/* Replaces the paths of programs in IMAGE_TOOLS_DIRECTORY by their paths on the machine, because
 * that directory exists only in pods with namespaces. */
void plan_plain_command(struct planner *p, const struct json *container, struct pod_container *ret)
{
    plain_replace_word(ret, IMAGE_TRAINER_PATH, p->input->trainer_path);
    plain_replace_word(ret, IMAGE_STEP_PATH, p->input->step_path);
    plain_replace_wrapper(p, container, ret);
    plain_set_directory(p, ret);
}
