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

/* `authority` and `token` are whole lines of the file: a field and its value. */
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

/* Writes a kubeconfig that refers to the token and the CA in the volume. The files of the volume
 * are kept up to date. */
static int write_own(struct arena *arena, const struct plan_kubeconfig *kubeconfig,
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

/* Creates a directory that every user can enter, but not list. The umask does not matter. */
static int make_passage(const char *path, struct err *err)
{
    int result = file_make_dirs(path, 0711, err);
    return result < 0 || chmod(path, 0711) == 0
               ? result
               : err_set_errno(err, errno, "cannot open '%s' for other users", path);
}

/* Writes a file for another user. Only the current user can write in the directory, so the path
 * contains no link of another user. The owner is set before the file is renamed to its final name.
 */
static int give_file(struct arena *arena, const char *path, const char *text, int64_t user,
                     struct err *err)
{
    const char *aside = arena_printf(arena, "%s.new", path);
    int result = file_replace(aside, text, strlen(text), 0400, err);
    if (result < 0)
        return result;
    if (chown(aside, (uid_t)user, (gid_t)-1) < 0)
        return err_set_errno(err, errno, "cannot give '%s' to user %" PRId64, aside, user);
    if (rename(aside, path) < 0)
        return err_set_errno(err, errno, "cannot write '%s'", path);
    return 0;
}

/* Writes a kubeconfig that contains the current token and CA. The token is valid as long as the pod
 * lives. */
static int hand_out(struct arena *arena, const struct plan_kubeconfig *kubeconfig,
                    const char **ret_path, struct err *err)
{
    _cleanup_buf_ struct buf authority = {0}, token = {0};
    const char *directory = arena_printf(arena, "%s/%s", kubeconfig->handout_dir, kubeconfig->uid);
    int result;
    *ret_path = arena_printf(arena, "%s/kubeconfig-%" PRId64, directory, kubeconfig->user);
    if ((result = read_secret(kubeconfig->files, "ca.crt", &authority, err)) < 0 ||
        (result = read_secret(kubeconfig->files, "token", &token, err)) < 0 ||
        (result = make_passage(kubeconfig->handout_dir, err)) < 0 ||
        (result = make_passage(directory, err)) < 0)
        return result;
    const char *text = make_text(arena, kubeconfig,
                                 arena_printf(arena, "certificate-authority-data: %s",
                                              base64_encode(arena, authority.data, authority.size)),
                                 arena_printf(arena, "token: %.*s", (int)token.size, token.data));
    return give_file(arena, *ret_path, text, kubeconfig->user, err);
}

int plan_kubeconfig_write(struct arena *arena, const struct plan_kubeconfig *kubeconfig,
                          const char **ret_path, struct err *err)
{
    if (kubeconfig->user <= 0)
        return write_own(arena, kubeconfig, ret_path, err);
    int result = hand_out(arena, kubeconfig, ret_path, err);
    return result < 0 ? err_wrap(err,
                                 "user %" PRId64 " gets no KUBECONFIG (a pod that needs none says "
                                 "automountServiceAccountToken: false)",
                                 kubeconfig->user)
                      : 0;
}

int plan_handouts_remove(const char *handout_dir, const char *uid, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", handout_dir, uid);
    return file_remove_tree(path, err);
}
