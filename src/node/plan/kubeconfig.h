/* The kubeconfig of a pod without namespaces, by which its programs find the API as its account: no
 * file can be mounted where they would look for token and CA. Who runs us reads it in the pod's
 * directory. For a container with another user it is written where that user gets to, and nobody
 * else but root can read it: the state directory, and often the home it lies in, are closed. */
#ifndef TRAINYARD_NODE_POD_KUBECONFIG_H
#define TRAINYARD_NODE_POD_KUBECONFIG_H

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

/* A container that mounts its account's files here gets a KUBECONFIG. */
#define POD_ACCOUNT_MOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

/* Where a cluster that root runs hands out files to other users: in /run, which only root writes.
 */
char *plan_handout_dir(struct arena *arena, const char *state_dir);

struct plan_kubeconfig {
    const char *pod_dir, *uid, *namespace_;
    const char *files; /* where token and ca.crt of its account lie */
    int api_port;
    int64_t user;            /* who is to read it; not above 0: who runs us */
    const char *handout_dir; /* for another user */
};
int plan_kubeconfig_write(struct arena *arena, const struct plan_kubeconfig *kubeconfig,
                          const char **ret_path, struct err *err);

/* All that was handed out for the pod. */
int plan_handouts_remove(const char *handout_dir, const char *uid, struct err *err);

#endif
