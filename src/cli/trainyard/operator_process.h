/* The process `trainyard operator`: waits for the API server, acquires the lease, runs the
 * controllers while it is the leader, and shuts down in order. operator.c parses the options. If
 * leader election is on, the process never changes the cluster without the lease. */
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
    const char *namespace_;     /* NULL: all namespaces */
    const char *cluster_domain; /* may be NULL */
    const char *gang_scheduler; /* may be NULL */
    int host_port_first, host_port_last;
    size_t workers; /* limit of jobs per kind that are reconciled at the same time */
    double rate;    /* requests per second; 0: no limit */
    size_t burst;
    bool elect;
    const char *lease_namespace, *lease_name, *identity;
    const char *metrics_address, *health_address;
};

/* Runs until SIGINT or SIGTERM, then finishes the calls in flight, releases the lease and returns
 * 0. A second signal ends the process at once. When the process loses the lease, it stops its
 * controllers and waits to become the leader again. */
int operator_process_run(const struct operator_options *options, struct err *err);

#endif
