/* The operator as a process: waits for the API, asks for the lease, runs the controllers while it
 * leads, and ends in good order. operator.c reads its options. It must never act on the cluster
 * without the lease, if it was asked to elect. */
#ifndef TRAINYARD_CLI_TRAINYARD_OPERATOR_PROCESS_H
#define TRAINYARD_CLI_TRAINYARD_OPERATOR_PROCESS_H

#include "kube/client/kubeconfig.h"
#include "operator/kind/training_kind.h"

#include <stddef.h>
#include <stdint.h>

enum { OPERATOR_KINDS_MAX = TRAINING_KIND_COUNT };

struct operator_options {
    struct kubeconfig config;
    const struct training_kind *kinds[OPERATOR_KINDS_MAX];
    size_t kind_count;
    const char *namespace_;     /* NULL: all */
    const char *cluster_domain; /* or NULL */
    const char *gang_scheduler; /* or NULL */
    int host_port_first, host_port_last;
    size_t workers; /* jobs worked on at a time, of each kind */
    double rate;    /* requests a second; 0: no limit */
    size_t burst;
    bool elect;
    const char *lease_namespace, *lease_name, *identity;
    const char *metrics_address, *health_address;
};

/* Until SIGINT or SIGTERM: then it finishes the calls under way, gives the lease away and returns
 * 0. A second signal ends it at once. Who loses the lease stops its controllers and stands by. */
int operator_process_run(const struct operator_options *options, struct err *err);

#endif
