/* A number for a state directory that does not depend on the path by which it is reached. The
 * things that a cluster makes outside of its state directory, such as control groups, links and
 * files in /run, carry it in their names, so that a later `up` or `down` finds them. */
#ifndef TRAINYARD_NODE_STATE_NUMBER_H
#define TRAINYARD_NODE_STATE_NUMBER_H

#include <stdint.h>

uint64_t node_state_number(const char *state_dir);

#endif
