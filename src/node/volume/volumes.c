/* Prepares volumes as directories; see volume/volumes.h. */
#include "node/volume/volumes.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "kube/object.h"
#include "kube/pod_claim.h"
#include "kube/quantity.h"
#include "node/volume/claim_data.h"
#include "node/volume/files.h"
#include "node/volume/group.h"
#include "node/volume/host_path.h"

#include <errno.h>
#include <sys/stat.h>

int64_t volume_group_of(const struct json *pod, bool nested)
{
    const struct json *security = json_at(pod, "spec", "securityContext", NULL);
    return nested ? -1 : json_get_int(security, "fsGroup", -1);
}

/* Creates a directory in which every user may write, because the container may run as any user. The
 * directories above it keep other users of the machine out. */
static int make_open_directory(const char *path, struct err *err)
{
    int result = file_make_dirs(path, 0755, err);
    if (result == 0 && chmod(path, 0777) < 0)
        result = err_set_errno(err, errno, "cannot make '%s' accessible to the pod", path);
    return result;
}

char *volume_claim_path(struct arena *arena, const char *state_dir, const char *namespace_,
                        const char *claim)
{
    return arena_printf(arena, "%s/volumes/%s/%s", state_dir, namespace_, claim);
}

/* Changes the group of all files in a directory of the cluster. fsGroupChangePolicy decides whether
 * this is done for each pod, or only if the group of the top directory differs. */
static int give_group(const struct volume_context *context, const char *path, struct err *err)
{
    const struct json *security = json_at(context->facts->pod, "spec", "securityContext", NULL);
    bool only_mismatch =
        str_eq(json_get_string(security, "fsGroupChangePolicy", ""), "OnRootMismatch");
    if (context->group < 0 || (only_mismatch && volume_group_is(path, context->group)))
        return 0;
    return volume_group_give(path, context->group, false, err);
}

/* Finds the persistent volume `name` of a bound claim. If a user created the volume,
 * `*ret_user_source` becomes its hostPath or local source. If the engine created the volume for the
 * claim, `*ret_user_source` becomes NULL, and `*ret_directory` becomes the name of the directory
 * with the data (claim_data.h). */
static int volumes_find_volume(const struct node_objects *objects, const char *name,
                               const struct json **ret_user_source, const char **ret_directory,
                               struct err *err)
{
    const struct json *volume = node_objects_get(objects, &KUBE_PVS, "", name);
    const struct json *spec = json_get(volume, "spec");
    if (!volume)
        return err_set(err, ERR_NOT_FOUND, "persistentvolume \"%s\" not found", name);
    *ret_user_source = json_get(spec, "hostPath");
    if (!*ret_user_source)
        *ret_user_source = json_get(spec, "local");
    *ret_directory = claim_data_directory(volume);
    if (!*ret_user_source && !*ret_directory)
        return err_set(err, ERR_INVALID,
                       "persistentvolume \"%s\" is not a directory of this machine: only hostPath "
                       "and local are supported",
                       name);
    return 0;
}

static int check_claim(const struct json *claim, const char *name, struct err *err)
{
    if (!claim)
        return err_set(err, ERR_NOT_FOUND, "persistentvolumeclaim \"%s\" not found", name);
    if (!str_eq(json_get_string(json_get(claim, "status"), "phase", ""), "Bound"))
        return err_set(err, ERR_NOT_FOUND,
                       "persistentvolumeclaim \"%s\" is not bound: 'kubectl describe pvc %s' says "
                       "what it waits for",
                       name, name);
    if (str_eq(json_get_string(json_get(claim, "spec"), "volumeMode", ""), "Block"))
        return err_set(err, ERR_UNSUPPORTED,
                       "persistentvolumeclaim \"%s\" has volumeMode Block, and volumes are "
                       "directories on this machine: use volumeMode Filesystem",
                       name);
    return 0;
}

int volume_claim_find(struct arena *arena, const struct node_objects *objects,
                      const char *state_dir, const char *namespace_, const char *name,
                      const char **ret_directory, bool *ret_is_managed, struct err *err)
{
    if (!str_is_dns_subdomain(name)) /* the name becomes part of a path */
        return err_set(err, ERR_INVALID, "'%s' is not a valid claim name", name);
    const struct json *claim = node_objects_get(objects, &KUBE_PVCS, namespace_, name);
    int result = check_claim(claim, name, err);
    if (result < 0)
        return result;
    const char *volume = json_get_string(json_get(claim, "spec"), "volumeName", "");
    const struct json *user_source = NULL;
    const char *directory = name;
    result = volume[0] ? volumes_find_volume(objects, volume, &user_source, &directory, err) : 0;
    if (result < 0)
        return result;
    *ret_is_managed = !user_source;
    if (user_source)
        return volume_host_path(arena, user_source, state_dir, ret_directory, err);
    *ret_directory = volume_claim_path(arena, state_dir, namespace_, directory);
    return 0;
}

static int prepare_claim_named(struct arena *arena, const struct volume_context *context,
                               const char *name, struct volume *ret, struct err *err)
{
    bool is_managed = false;
    int result = volume_claim_find(arena, context->objects, context->state_dir,
                                   kube_meta_namespace(context->facts->pod), name, &ret->source,
                                   &is_managed, err);
    if (result < 0 || !is_managed)
        return result;
    result = make_open_directory(ret->source, err);
    return result < 0 ? result : give_group(context, ret->source, err);
}

static int prepare_claim(struct arena *arena, const struct volume_context *context,
                         const struct json *source, struct volume *ret, struct err *err)
{
    ret->read_only = json_get_bool(source, "readOnly", false);
    return prepare_claim_named(arena, context, json_get_string(source, "claimName", ""), ret, err);
}

/* Prepares the claim of an ephemeral volume. Checks that the claim was created for this pod:
 * another claim of the same name may contain other data. */
static int prepare_ephemeral(struct arena *arena, const struct volume_context *context,
                             const struct json *source, struct volume *ret, struct err *err)
{
    const struct json *pod = context->facts->pod;
    const char *name = arena_printf(arena, "%s-%s", kube_meta_name(pod), ret->name);
    const struct json *claim =
        node_objects_get(context->objects, &KUBE_PVCS, kube_meta_namespace(pod), name);
    const char *refusal = claim ? kube_pod_claim_rejection(arena, pod, claim) : NULL;
    if (refusal)
        return err_set(err, ERR_NOT_FOUND, "%s", refusal);
    return prepare_claim_named(arena, context, name, ret, err);
}

static int prepare_host_path(struct arena *arena, const struct volume_context *context,
                             const struct json *source, struct volume *ret, struct err *err)
{
    return volume_host_path(arena, source, context->state_dir, &ret->source, err);
}

static int prepare_empty(struct arena *arena, const struct volume_context *context,
                         const struct json *source, struct volume *ret, struct err *err)
{
    struct kube_quantity limit = {0};
    ret->memory = str_eq(json_get_string(source, "medium", ""), "Memory");
    if (ret->memory && kube_quantity_from_json(json_get(source, "sizeLimit"), &limit, err) < 0)
        return err_wrap(err, "sizeLimit");
    ret->size = kube_quantity_value(&limit);
    int result = make_open_directory(ret->source, err);
    return result < 0 || ret->memory ? result : give_group(context, ret->source, err);
}

static const struct {
    const char *name;
    int (*prepare)(struct arena *arena, const struct volume_context *context,
                   const struct json *source, struct volume *ret, struct err *err);
} KINDS[] = {
    {"emptyDir", prepare_empty},
    {"hostPath", prepare_host_path},
    {"persistentVolumeClaim", prepare_claim},
    {"ephemeral", prepare_ephemeral},
};

/* Refuses a kind of volume that needs a server, a driver or a cloud, and suggests an alternative.
 */
static int refuse_kind(const char *kind, struct err *err)
{
    const char *instead = "mount it on this machine and use hostPath, or copy the data into a "
                          "persistentVolumeClaim";
    if (str_eq(kind, "image"))
        instead = "unpack the image into a directory and use hostPath";
    else if (str_eq(kind, "gitRepo"))
        instead = "clone it into an emptyDir in an init container";
    return err_set(err, ERR_UNSUPPORTED, "a volume of type %s is not supported on this machine: %s",
                   kind, instead);
}

static int prepare_source(struct arena *arena, const struct volume_context *context,
                          const struct json *volume, struct volume *ret, struct err *err)
{
    if (volume_files_is(volume)) {
        ret->read_only = true;
        return volume_files_write(arena, context, volume, ret->source, err);
    }
    for (size_t i = 0; i < ARRAY_SIZE(KINDS); i++) {
        const struct json *source = json_get(volume, KINDS[i].name);
        if (source)
            return KINDS[i].prepare(arena, context, source, ret, err);
    }
    JSON_EACH (member, volume) {
        if (!str_eq(member->name, "name"))
            return refuse_kind(member->name, err);
    }
    return prepare_empty(arena, context, NULL, ret, err);
}

static const char *directory_of(struct arena *arena, const struct volume_context *context,
                                const char *name)
{
    return arena_printf(arena, "%s/volumes/%s", context->pod_dir, name);
}

int volume_prepare(struct arena *arena, const struct volume_context *context,
                   const struct json *volume, struct volume *ret, struct err *err)
{
    const char *name = json_get_string(volume, "name", "");
    if (!str_is_dns_label(name))
        return err_set(err, ERR_INVALID, "'%s' is not a valid volume name", name);
    *ret = (struct volume){.name = name, .source = directory_of(arena, context, name)};
    int result = prepare_source(arena, context, volume, ret, err);
    return result < 0 ? err_wrap(err, "MountVolume.SetUp failed for volume \"%s\" ", name) : 0;
}

int volume_refresh(struct arena *arena, const struct volume_context *context,
                   const struct json *volume, struct err *err)
{
    const char *name = json_get_string(volume, "name", "");
    int result =
        volume_files_write(arena, context, volume, directory_of(arena, context, name), err);
    return result < 0 ? err_wrap(err, "MountVolume.SetUp failed for volume \"%s\" ", name) : 0;
}
