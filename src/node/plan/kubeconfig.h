/* The kubeconfig of a pod without namespaces, with which its programs reach the API as their
 * service account. Token and CA cannot be mounted where programs look for them. For the user who
 * runs the cluster it is in the pod's directory. For a container with another user it is written
 * where only that user and root can read it, because the state directory, and often the home above
 * it, are closed to others. */
#ifndef TRAINYARD_NODE_PLAN_KUBECONFIG_H
#define TRAINYARD_NODE_PLAN_KUBECONFIG_H

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

/* A container that mounts its account's files here gets the variable KUBECONFIG. */
#define POD_ACCOUNT_MOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

/* Returns the directory for files of other users, in /run, which only root writes. For a cluster
 * that root runs. */
char *plan_handout_dir(struct arena *arena, const char *state_dir);

struct plan_kubeconfig {
    const char *pod_dir, *uid, *namespace_;
    const char *files; /* the directory with the account's token and ca.crt */
    int api_port;
    int64_t user; /* the user who reads it; 0 or less means the user who runs the cluster */
    const char *handout_dir; /* used for another user */
};
int plan_kubeconfig_write(struct arena *arena, const struct plan_kubeconfig *kubeconfig,
                          const char **ret_path, struct err *err);

/* Removes all files that were written there for the pod. */
int plan_handouts_remove(const char *handout_dir, const char *uid, struct err *err);

#endif
