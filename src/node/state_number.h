/* Computes a number that identifies a state directory, regardless of the path by which it is
 * opened. The names of control groups, links and files in /run that a cluster creates outside of
 * its state directory contain this number, so that a later `up` or `down` finds them. */
#ifndef TRAINYARD_NODE_STATE_NUMBER_H
#define TRAINYARD_NODE_STATE_NUMBER_H

#include <stdint.h>

uint64_t node_state_number(const char *state_dir);

#endif
