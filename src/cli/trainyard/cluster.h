/* The embedded cluster put together: store, API server, controllers, operator and nodes on one
 * loop, in the order in which each needs the one before, and taken apart in the reverse order. `up`
 * runs it. */
#ifndef TRAINYARD_CLI_TRAINYARD_CLUSTER_H
#define TRAINYARD_CLI_TRAINYARD_CLUSTER_H

#include "base/err.h"
#include "cli/trainyard/state_dir.h"
#include "node/node.h"

struct cluster_options {
    const struct state_dir *state;
    const char *kubeconfig;        /* the file to write */
    const char *const *node_names; /* NULL-terminated */
    struct node_size size;         /* of each node */
    int listen_fd;                 /* the API's socket, taken over */
    int port;
    const char *resolv_conf;   /* the machine's name servers; NULL: as the machine has them */
    const char *const *shares; /* directories for all pods, NULL-terminated */
    int fake_gpus;             /* that the nodes tell of and the machine has not */
    bool plain;                /* pods get no namespaces */
    bool isolated;             /* pods are to reach nothing beyond the cluster */
    bool restarted;            /* after a crash; `up` has told its user all there is to tell */
    bool no_operator;          /* TFJobs and PyTorchJobs are for somebody else to run */
};

/* Run until SIGINT or SIGTERM. `ready` is called once the API answers and every node is Ready. Must
 * be called before any thread was started. The pods are left running. */
int cluster_run(const struct cluster_options *options, void (*ready)(void *context), void *context,
                struct err *err);

#endif
