/* The embedded cluster: store, API server, controllers, operator, pipelines and nodes on one loop.
 * The parts start in this order, because each needs the previous parts, and stop in the reverse
 * order. `trainyard up` runs it, in the background (background.h) or in the foreground. */
#ifndef TRAINYARD_CLI_TRAINYARD_CLUSTER_H
#define TRAINYARD_CLI_TRAINYARD_CLUSTER_H

#include "base/err.h"
#include "cli/trainyard/state_dir.h"
#include "node/node.h"

struct cluster_options {
    const struct state_dir *state;
    const char *kubeconfig;        /* path of the kubeconfig file to write */
    const char *const *node_names; /* NULL-terminated */
    struct node_size size;         /* size of each node */
    int listen_fd;                 /* listening socket of the API server, which closes it */
    int port;                      /* port of listen_fd */
    /* Path of a resolv.conf with the name servers for pods; NULL: use /etc/resolv.conf of the
     * machine. */
    const char *resolv_conf;
    const char *const *shares; /* directories that all pods can access, NULL-terminated */
    int fake_gpus;             /* number of simulated GPUs that the nodes report */
    bool plain;                /* pods run as plain processes, without Linux namespaces */
    bool isolated;             /* pods have no network access beyond the cluster */
    /* The server was restarted after a crash. If it cannot write the kubeconfig, it logs a warning
     * and continues. */
    bool restarted;
    bool no_operator; /* do not run TFJobs and PyTorchJobs, because another operator runs them */
};

/* Runs until SIGINT or SIGTERM, and then returns 0. Returns a negative code if a part of the
 * cluster cannot start. Calls `ready` once, when the API server answers and every node is Ready.
 * Must be called before any thread is started. Pods keep running after cluster_run() has returned.
 */
int cluster_run(const struct cluster_options *options, void (*ready)(void *context), void *context,
                struct err *err);

#endif
