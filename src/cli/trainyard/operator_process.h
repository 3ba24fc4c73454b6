/* The process `trainyard operator`: waits for the API server, runs the controllers, and shuts down
 * in order. If leader election is on, the process runs the controllers only while it holds the
 * lease, and before that it changes nothing in the cluster but the lease. operator.c parses the
 * options and calls operator_process_run(). */
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
    const char *namespace_;              /* NULL: all namespaces */
    const char *cluster_domain;          /* appended to host names in TF_CONFIG; NULL: none */
    const char *gang_scheduler;          /* the scheduler of the PodGroups; NULL: no PodGroups */
    int host_port_first, host_port_last; /* range of the node ports for hostNetwork */
    size_t workers; /* limit of jobs per kind that are reconciled at the same time */
    double rate;    /* limit of the controllers' requests per second; 0: no limit */
    size_t burst;   /* requests that may be sent at once after an idle time; 0: as many as `rate` */
    bool elect;     /* leader election is on */
    const char *lease_namespace, *lease_name;
    const char *identity; /* name of this process in the lease; no earlier process had it */
    const char *metrics_address, *health_address; /* see operator_server.h */
};

/* Runs until SIGINT or SIGTERM. Then finishes the calls in flight and releases the lease, each
 * within 5 s, and returns 0. After a second signal it returns at once. When the process loses the
 * lease, it cancels the calls of its controllers and waits to become the leader again. Returns a
 * negative code if the process cannot start. */
int operator_process_run(const struct operator_options *options, struct err *err);

#endif
