/* A node without processes: pods bound to it start, run, fail and end in virtual time at random,
 * with the statuses that a real node reports. Parameter servers (by their label) run until they are
 * deleted. */
#ifndef TRAINYARD_TESTS_SIM_SIM_NODE_H
#define TRAINYARD_TESTS_SIM_SIM_NODE_H

#include "base/rand.h"
#include "kube/client/client.h"

struct sim_node;

/* Registers a ready Node object of large capacity. `transport` should have no faults, since a real
 * node retries until it succeeds. */
struct sim_node *sim_node_new(struct loop *loop, struct http_transport *transport,
                              struct rand *rand, const char *name);
struct sim_node *sim_node_free(struct sim_node *node);

/* Sets how many percent of programs fail; random at first. */
void sim_node_set_failures(struct sim_node *node, unsigned percent);

/* Does something random to one of its pods: deletes it, deletes it by force, or evicts it if it has
 * not ended. */
void sim_node_disturb_one_pod(struct sim_node *node);

#endif
