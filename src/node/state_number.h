/* A number for a state directory, whatever path leads to it: what a cluster makes outside of it, as
 * control groups, links and files in /run, carries it in its name, so that a later `up` or `down`
 * finds it. */
#ifndef TRAINYARD_NODE_STATE_NUMBER_H
#define TRAINYARD_NODE_STATE_NUMBER_H

#include <stdint.h>

uint64_t node_state_number(const char *state_dir);

#endif
