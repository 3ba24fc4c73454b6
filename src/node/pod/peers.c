/* Creates and removes the directories that pods of a job share; see pod/peers.h. */
#include "node/pod/peers.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "kube/object.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static bool is_job(const struct json *owner)
{
    const char *version = json_get_string(owner, "apiVersion", "");
    return str_has_prefix(version, "kubeflow.org/") ||
           (str_has_prefix(version, "batch/") && str_eq(json_get_string(owner, "kind", ""), "Job"));
}

/* The directory's name contains the job's uid and not its name, because a later job may have the
 * same name. It also contains the namespace: a user who may create pods in one namespace can write
 * any owner reference, but must not reach jobs in other namespaces. */
const char *peers_name(struct arena *arena, const struct json *pod)
{
    const struct json *owner = kube_meta_controller(pod);
    const char *uid = json_get_string(owner, "uid", "");
    const char *namespace_ = kube_meta_namespace(pod);
    if (!owner || !is_job(owner) || !str_is_dns_label(uid) || !str_is_dns_label(namespace_))
        return NULL; /* the uid and the namespace become part of a path */
    return arena_printf(arena, "%s.%s", namespace_, uid);
}

int peers_prepare(struct arena *arena, const char *state_dir, const char *name,
                  const char **ret_path, struct err *err)
{
    const char *path = arena_printf(arena, "%s/peers/%s", state_dir, name);
    int result = file_make_dirs(path, 0755, err);
    if (result < 0)
        return result;
    /* The pods of the job may run as any user. Other users cannot reach the directory, because they
     * cannot enter the state directory. */
    if (chmod(path, 0777) < 0)
        return err_set_errno(err, errno, "cannot make '%s' accessible to the pods of its job",
                             path);
    *ret_path = path;
    return 0;
}

const char *peers_of_spec(const char *state_dir, const struct pod_spec *spec)
{
    _cleanup_free_ char *root = mem_printf("%s/peers/", state_dir);
    for (size_t i = 0; i < spec->container_count; i++) {
        const struct pod_container *container = &spec->containers[i];
        for (size_t k = 0; k < container->mount_count; k++) {
            const struct pod_mount *mount = &container->mounts[k];
            if (str_eq(mount->target, PEERS_MOUNT) && mount->source &&
                str_has_prefix(mount->source, root))
                return mount->source + strlen(root);
        }
    }
    return NULL;
}

void peers_throw(struct trash *trash, const char *state_dir, const char *name, const char *uid)
{
    _cleanup_free_ char *path = mem_printf("%s/peers/%s", state_dir, name);
    _cleanup_free_ char *aside = mem_printf("peers.%s.%s", name, uid);
    (void)trash_throw(trash, path, aside);
}

void peers_sweep(struct trash *trash, const char *state_dir,
                 bool (*is_wanted)(void *context, const char *name), void *context)
{
    _cleanup_free_ char *root = mem_printf("%s/peers", state_dir);
    DIR *directory = opendir(root);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (entry->d_name[0] != '.' && !is_wanted(context, entry->d_name))
            peers_throw(trash, state_dir, entry->d_name, "start");
    }
    if (directory)
        closedir(directory);
}
