/* The embedded cluster: store, API server, controllers, operator and nodes on one loop. They start
 * in the order in which each needs the one before, and stop in the reverse order. `up` runs it. */
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
    int listen_fd;                 /* listening socket of the API server, which takes it over */
    int port;
    /* Resolv.conf with the name servers for pods; NULL: that of the machine. */
    const char *resolv_conf;
    const char *const *shares; /* directories that all pods can access, NULL-terminated */
    int fake_gpus;             /* number of simulated GPUs that the nodes report */
    bool plain;                /* pods run without namespaces */
    bool isolated;             /* pods have no network access beyond the cluster */
    bool restarted;   /* this is a restart after a crash: the messages for the user of `up` are not
                         printed again */
    bool no_operator; /* do not run TFJobs and PyTorchJobs; another operator does */
};

/* Runs until SIGINT or SIGTERM. Calls `ready` once the API server answers and every node is Ready.
 * Must be called before any thread is started. Pods keep running after it returns. */
int cluster_run(const struct cluster_options *options, void (*ready)(void *context), void *context,
                struct err *err);

#endif
