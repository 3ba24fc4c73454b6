/* Writes the kubeconfig of a pod without namespaces; see plan/kubeconfig.h. */
#include "node/plan/kubeconfig.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/system/file.h"
#include "node/state_number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECRET_MAX = 256 * 1024 };

char *plan_handout_dir(struct arena *arena, const char *state_dir)
{
    return arena_printf(arena, "/run/trainyard-%016llx",
                        (unsigned long long)node_state_number(state_dir));
}

/* `authority` and `token` are lines of the file: each is a field and its value. */
static const char *make_text(struct arena *arena, const struct plan_kubeconfig *kubeconfig,
                             const char *authority, const char *token)
{
    return arena_printf(
        arena,
        "apiVersion: v1\nkind: Config\ncurrent-context: pod\n"
        "clusters:\n- name: pod\n  cluster:\n    server: https://127.0.0.1:%d\n    %s\n"
        "users:\n- name: pod\n  user:\n    %s\n"
        "contexts:\n- name: pod\n  context:\n    cluster: pod\n    user: pod\n    namespace: %s\n",
        kubeconfig->api_port, authority, token, kubeconfig->namespace_);
}

/* Writes a kubeconfig into the pod's directory. It refers to the files with the token and the CA in
 * the pod's volume, which the runner keeps up to date. */
static int kubeconfig_write_private(struct arena *arena, const struct plan_kubeconfig *kubeconfig,
                                    const char **ret_path, struct err *err)
{
    const char *text =
        make_text(arena, kubeconfig,
                  arena_printf(arena, "certificate-authority: '%s/ca.crt'", kubeconfig->files),
                  arena_printf(arena, "tokenFile: '%s/token'", kubeconfig->files));
    *ret_path = arena_printf(arena, "%s/kubeconfig", kubeconfig->pod_dir);
    return file_replace(*ret_path, text, strlen(text), 0644, err);
}

static int read_secret(const char *directory, const char *name, struct buf *ret, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, name);
    buf_init(ret, SECRET_MAX);
    return file_read(path, ret, err);
}

/* Creates a directory with mode 0711 if it is missing: every user can enter it, but only its owner
 * can list it. chmod() makes the mode independent of the umask. */
static int kubeconfig_make_dir(const char *path, struct err *err)
{
    int result = file_make_dirs(path, 0711, err);
    return result < 0 || chmod(path, 0711) == 0
               ? result
               : err_set_errno(err, errno, "cannot make '%s' accessible to other users", path);
}

/* Writes a file that only `user` and root can read. Only the current user can write in the
 * directory, so no other user can place a link there. The owner is set before the file gets its
 * final name. */
static int kubeconfig_write_for_user(struct arena *arena, const char *path, const char *text,
                                     int64_t user, struct err *err)
{
    const char *temporary = arena_printf(arena, "%s.new", path);
    int result = file_replace(temporary, text, strlen(text), 0400, err);
    if (result < 0)
        return result;
    if (chown(temporary, (uid_t)user, (gid_t)-1) < 0)
        return err_set_errno(err, errno, "cannot change the owner of '%s' to user %" PRId64,
                             temporary, user);
    if (rename(temporary, path) < 0)
        return err_set_errno(err, errno, "cannot write '%s'", path);
    return 0;
}

/* Writes a kubeconfig into the handout directory. It contains the token and the CA themselves. It
 * is not updated later: the token is valid for a year, or until the pod is deleted
 * (pod/tokens.h). */
static int kubeconfig_write_handout(struct arena *arena, const struct plan_kubeconfig *kubeconfig,
                                    const char **ret_path, struct err *err)
{
    _cleanup_buf_ struct buf authority = {0}, token = {0};
    const char *directory = arena_printf(arena, "%s/%s", kubeconfig->handout_dir, kubeconfig->uid);
    int result;
    *ret_path = arena_printf(arena, "%s/kubeconfig-%" PRId64, directory, kubeconfig->user);
    if ((result = read_secret(kubeconfig->files, "ca.crt", &authority, err)) < 0 ||
        (result = read_secret(kubeconfig->files, "token", &token, err)) < 0 ||
        (result = kubeconfig_make_dir(kubeconfig->handout_dir, err)) < 0 ||
        (result = kubeconfig_make_dir(directory, err)) < 0)
        return result;
    const char *text = make_text(arena, kubeconfig,
                                 arena_printf(arena, "certificate-authority-data: %s",
                                              base64_encode(arena, authority.data, authority.size)),
                                 arena_printf(arena, "token: %.*s", (int)token.size, token.data));
    return kubeconfig_write_for_user(arena, *ret_path, text, kubeconfig->user, err);
}

int plan_kubeconfig_write(struct arena *arena, const struct plan_kubeconfig *kubeconfig,
                          const char **ret_path, struct err *err)
{
    if (kubeconfig->user <= 0)
        return kubeconfig_write_private(arena, kubeconfig, ret_path, err);
    int result = kubeconfig_write_handout(arena, kubeconfig, ret_path, err);
    return result < 0
               ? err_wrap(err,
                          "cannot provide a KUBECONFIG for user %" PRId64
                          " (if the pod needs none, set automountServiceAccountToken: false)",
                          kubeconfig->user)
               : 0;
}

int plan_handouts_remove(const char *handout_dir, const char *uid, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", handout_dir, uid);
    return file_remove_tree(path, err);
}
