/* Computes a number that identifies a state directory: a hash of its real path. A cluster creates
 * control groups, network links and a directory in /run outside of its state directory. Their names
 * contain this number or its low half, so that a later 'trainyard up' or 'trainyard down' finds
 * them. */
#ifndef TRAINYARD_NODE_STATE_NUMBER_H
#define TRAINYARD_NODE_STATE_NUMBER_H

#include <stdint.h>

/* Hashes `state_dir` as given if its real path cannot be found. */
uint64_t node_state_number(const char *state_dir);

#endif
