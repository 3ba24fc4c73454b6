/* Writes the kubeconfig of a pod without namespaces (plan/plain.c). The programs of the pod use it
 * to reach the API as their service account, because the token and the CA cannot be mounted at the
 * usual path. If a container runs as the user who runs the cluster, the kubeconfig is in the pod's
 * directory. Other users cannot enter that directory. If a container runs as another user, the
 * kubeconfig is in the handout directory, where only that user and root can read it. */
#ifndef TRAINYARD_NODE_PLAN_KUBECONFIG_H
#define TRAINYARD_NODE_PLAN_KUBECONFIG_H

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

/* The path at which containers mount the files of their service account. */
#define POD_ACCOUNT_MOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

/* Returns the path of the handout directory: a directory in /run for files that containers which
 * run as other users must read. Each state directory has its own. Only root can create it, so only
 * a cluster that root runs uses it. */
char *plan_handout_dir(struct arena *arena, const char *state_dir);

struct plan_kubeconfig {
    const char *pod_dir, *uid, *namespace_; /* of the pod */
    const char *files;                      /* the directory with the account's token and ca.crt */
    int api_port;
    int64_t user; /* the user who reads the file; <= 0 means the user who runs the cluster */
    const char *handout_dir; /* from plan_handout_dir(); used if `user` > 0 */
};
/* Writes the kubeconfig. Returns 0 and sets `*ret_path`, or a negative code. */
int plan_kubeconfig_write(struct arena *arena, const struct plan_kubeconfig *kubeconfig,
                          const char **ret_path, struct err *err);

/* Removes all files of the pod in `handout_dir`. Returns 0 if there are none. */
int plan_handouts_remove(const char *handout_dir, const char *uid, struct err *err);

#endif
