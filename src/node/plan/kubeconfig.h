/* Writes the kubeconfig of a pod without namespaces. Its programs use it to reach the API as their
 * service account, because the token and the CA cannot be mounted at the usual path. For the user
 * who runs the cluster, the kubeconfig is in the pod's directory. For a container with another
 * user, it is in a directory outside of the state directory, which other users cannot enter. Only
 * that user and root can read it there. */
#ifndef TRAINYARD_NODE_PLAN_KUBECONFIG_H
#define TRAINYARD_NODE_PLAN_KUBECONFIG_H

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

/* A container that mounts the files of its service account here gets the variable KUBECONFIG. */
#define POD_ACCOUNT_MOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

/* Returns the directory in /run for files that other users read. Only root can write in /run, so
 * only a cluster that root runs can use it. */
char *plan_handout_dir(struct arena *arena, const char *state_dir);

struct plan_kubeconfig {
    const char *pod_dir, *uid, *namespace_;
    const char *files; /* the directory with the account's token and ca.crt */
    int api_port;
    int64_t user; /* the user who reads the file; <= 0 means the user who runs the cluster */
    const char *handout_dir; /* from plan_handout_dir(); used if `user` > 0 */
};
/* Writes the kubeconfig and returns its path. */
int plan_kubeconfig_write(struct arena *arena, const struct plan_kubeconfig *kubeconfig,
                          const char **ret_path, struct err *err);

/* Removes all files that were written in `handout_dir` for the pod. */
int plan_handouts_remove(const char *handout_dir, const char *uid, struct err *err);

#endif
