/* Plans the mounts of a container: its volumes, and mounts that the manifest does not mention; see
 * plan/internal.h. */
#include "node/plan/internal.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/pod_container.h"
#include "node/image/table.h"
#include "node/pod/peers.h"
#include "node/pod/record/state.h"

#include <string.h>

/* If the volume is in memory, adds it to the spec: the supervisor mounts such a volume once for all
 * containers. */
static void add_memory(struct planner *p, const struct volume *volume, int64_t group)
{
    if (!volume->memory)
        return;
    struct pod_memory *memory = pod_spec_add_memory(p->arena, p->spec, volume->source);
    memory->size = volume->size;
    memory->group = group;
}

int plan_prepare_volumes(struct planner *p)
{
    const struct volume_context context = {.state_dir = p->input->state_dir,
                                           .pod_dir = p->input->pod_dir,
                                           .facts = &p->facts,
                                           .objects = p->input->objects,
                                           .tokens = p->input->tokens,
                                           .group =
                                               volume_group_of(p->input->pod, p->input->nested)};
    JSON_EACH (volume, json_at(p->input->pod, "spec", "volumes", NULL)) {
        int result =
            p->volume_count == PLANNER_VOLUMES_MAX
                ? err_set(p->err, ERR_TOO_MANY, "the pod has more than %d volumes",
                          PLANNER_VOLUMES_MAX)
                : volume_prepare(p->arena, &context, volume, &p->volumes[p->volume_count], p->err);
        if (result < 0)
            return plan_refuse(p, "FailedMount", NULL, result);
        add_memory(p, &p->volumes[p->volume_count++], context.group);
    }
    return 0;
}

static const struct volume *mounts_find_volume(const struct planner *p, const char *name)
{
    for (size_t i = 0; i < p->volume_count; i++)
        if (str_eq(p->volumes[i].name, name))
            return &p->volumes[i];
    return NULL;
}

static bool is_step_image(const char *image)
{
    static const char name[] = "trainyard/step";
    return str_has_prefix(image, name) && strchr(":@", image[strlen(name)]);
}

/* Mounts the file for the termination message at the container's terminationMessagePath. */
static void plan_message(struct planner *p, const struct json *container, struct pod_container *ret)
{
    const char *target = json_get_string(container, "terminationMessagePath", KUBE_MESSAGE_PATH);
    _cleanup_free_ char *source = pod_message_path(p->input->pod_dir, ret->name);
    if (target[0] == '/' && target[1])
        pod_container_add_mount(p->arena, ret, target, arena_strdup(p->arena, source));
}

/* Mounts the hosts file of a pod on the machine's network. The control process updates the names of
 * services in this file while the pod runs (names/host_names.h). */
static void mounts_add_hosts(struct planner *p, struct pod_container *ret)
{
    if (plan_uses_host_network(p->input->pod))
        pod_container_add_mount(p->arena, ret, "/etc/hosts",
                                arena_printf(p->arena, "%s/hosts", p->input->pod_dir))
            ->read_only = true;
}

/* Mounts the directory that the pods of a job share (pod/peers.h), unless the container mounts a
 * volume at the same path. */
static int plan_peers(struct planner *p, const struct json *container, struct pod_container *ret)
{
    const char *name = peers_name(p->arena, p->input->pod), *path;
    JSON_EACH (mount, json_get(container, "volumeMounts")) {
        if (str_eq(json_get_string(mount, "mountPath", ""), PEERS_MOUNT))
            name = NULL;
    }
    if (!name)
        return 0;
    int result = peers_prepare(p->arena, p->input->state_dir, name, &path, p->err);
    if (result == 0)
        pod_container_add_mount(p->arena, ret, PEERS_MOUNT, path);
    return result;
}

/* Returns whether `name` is one of the segments of the path. */
static bool has_segment(const char *path, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
        if (strncmp(at, name, size) == 0 && (at[size] == '/' || at[size] == '\0'))
            return true;
    return false;
}

/* Returns whether a volume at this path would break the sandbox. */
static bool is_of_the_sandbox(const char *target)
{
    static const char *const WHOLE[] = {"/", "/dev", "/etc", "/sys"};
    for (size_t i = 0; i < ARRAY_SIZE(WHOLE); i++)
        if (str_eq(target, WHOLE[i]))
            return true;
    return str_eq(target, "/proc") || str_has_prefix(target, "/proc/");
}

/* Sets `*ret` to the path inside the volume that is mounted, or to NULL for the whole volume.
 * subPathExpr is expanded with the container's environment. */
static int plan_sub_path(struct planner *p, const struct json *mount,
                         const struct pod_strings *environment, const char **ret)
{
    const char *path = json_get_string(mount, "subPath", "");
    const char *expression = json_get_string(mount, "subPathExpr", "");
    if (expression[0]) {
        path = environment_expand(p->arena, expression, environment);
        if (strstr(path, "$("))
            return err_set(p->err, ERR_INVALID,
                           "failed to expand subPath for volumeMount \"%s\": '%s' uses a variable "
                           "that the container does not have",
                           json_get_string(mount, "name", ""), expression);
    }
    if (path[0] == '/' || has_segment(path, ".."))
        return err_set(p->err, ERR_INVALID, "subPath '%s' is not a path inside the volume", path);
    *ret = path[0] ? path : NULL;
    return 0;
}

static int plan_volume(struct planner *p, const struct json *mount, struct pod_container *ret)
{
    const char *name = json_get_string(mount, "name", "");
    const char *path = json_get_string(mount, "mountPath", "");
    const struct volume *volume = mounts_find_volume(p, name);
    const char *sub_path;
    if (!volume)
        return err_set(p->err, ERR_INVALID, "volume mount '%s' names no volume of the pod", name);
    if (path[0] != '/' || has_segment(path, ".."))
        return err_set(p->err, ERR_INVALID, "mountPath '%s' is not a path below '/'", path);
    int result = plan_sub_path(p, mount, &ret->environment, &sub_path);
    if (result < 0)
        return result;
    char *target = arena_strdup(p->arena, path);
    for (size_t size = strlen(target); size > 1 && target[size - 1] == '/';)
        target[--size] = '\0';
    if (is_of_the_sandbox(target))
        return err_set(p->err, ERR_INVALID,
                       "mountPath '%s' belongs to the sandbox: mount the volume elsewhere", path);
    struct pod_mount *row = pod_container_add_mount(p->arena, ret, target, volume->source);
    row->sub_path = sub_path;
    row->read_only = volume->read_only || json_get_bool(mount, "readOnly", false);
    row->only_top = str_eq(json_get_string(mount, "recursiveReadOnly", ""), "Disabled");
    return 0;
}

/* Mounts the directories that every pod shares with the machine ('trainyard up --share'), unless a
 * mount of the container already provides the path. */
static void plan_shares(struct planner *p, struct pod_container *ret)
{
    for (size_t i = 0; i < p->spec->shares.count; i++)
        if (!plan_is_covered(ret, p->spec->shares.items[i]))
            pod_container_add_mount(p->arena, ret, p->spec->shares.items[i],
                                    p->spec->shares.items[i]);
}

int plan_mounts(struct planner *p, const struct json *container, struct pod_container *ret)
{
    /* The trainer needs the machine's libraries, and an image with its own files has other
     * libraries. */
    if (p->input->trainer_path && !ret->root)
        pod_container_add_mount(p->arena, ret, IMAGE_TRAINER_PATH,
                                plan_real_path(p, p->input->trainer_path))
            ->read_only = true;
    if (p->input->step_path && !ret->root && is_step_image(json_get_string(container, "image", "")))
        pod_container_add_mount(p->arena, ret, IMAGE_STEP_PATH,
                                plan_real_path(p, p->input->step_path))
            ->read_only = true;
    mounts_add_hosts(p, ret);
    plan_message(p, container, ret);
    int result = plan_peers(p, container, ret);
    if (result < 0)
        return result;
    JSON_EACH (mount, json_get(container, "volumeMounts")) {
        if ((result = plan_volume(p, mount, ret)) < 0)
            return result;
    }
    if (json_count(json_get(container, "volumeDevices")))
        return err_set(p->err, ERR_UNSUPPORTED,
                       "volumeDevices are not supported on this machine, where volumes are "
                       "directories: use volumeMounts and volumeMode Filesystem");
    plan_shares(p, ret);
    return 0;
}
