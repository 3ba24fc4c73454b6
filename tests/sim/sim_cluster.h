/* A whole control plane in virtual time: the API server on a store in memory, its built-in
 * controllers and one simulated node. */
#ifndef TRAINYARD_TESTS_SIM_SIM_CLUSTER_H
#define TRAINYARD_TESTS_SIM_SIM_CLUSTER_H

#include "kube/client/client.h"
#include "sim_node.h"

#define SIM_TOKEN "simulated" /* the administrator's token */

struct sim_cluster {
    struct loop *loop;
    struct rand *rand; /* the random numbers of the run */
    struct store *store;
    struct engine *engine;
    struct http_transport *transport; /* a transport without faults */
    struct engine_controllers *controllers;
    struct kube_client *client; /* the test's own client */
    struct sim_node *node;
};

void sim_cluster_init(struct sim_cluster *cluster, uint64_t seed);
void sim_cluster_release(struct sim_cluster *cluster);

/* The callback of the test's own requests: fails the test with the error. */
void sim_must_succeed(void *context, struct json *object, const struct err *err);

#endif
