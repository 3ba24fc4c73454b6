/* A node that runs no process: pods bound to it start, run, fail and end in virtual time as the
 * dice fall, with the statuses a real node would report. Parameter servers (by their label) run
 * until they are deleted. */
#ifndef TRAINYARD_TESTS_SIM_SIM_NODE_H
#define TRAINYARD_TESTS_SIM_SIM_NODE_H

#include "base/rand.h"
#include "kube/client/client.h"

struct sim_node;

/* Registers the Node object, ready and large. `transport` should lose nothing: a node tries until
 * it is heard. */
struct sim_node *sim_node_new(struct loop *loop, struct http_transport *transport,
                              struct rand *rand, const char *name);
struct sim_node *sim_node_free(struct sim_node *node);

/* How many of a hundred programs fail; drawn at first. */
void sim_node_set_failures(struct sim_node *node, unsigned percent);

/* Do something to one of its pods, drawn from the dice: delete it, delete it by force, or evict it
 * if it has not ended. */
void sim_node_hurt_one(struct sim_node *node);

#endif
