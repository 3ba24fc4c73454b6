/* What the tasks of a job must have alike, in words: lines of "name value". Two tasks whose shapes
 * differ send each other theirs, so that each can say what differs. Called by handshake. */
#ifndef TRAINYARD_COMM_SHAPE_TEXT_H
#define TRAINYARD_COMM_SHAPE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* "--shift 0.1 there and 0.2 here, …", of the first few; false if nothing differs. Both may be "",
 * and `peer_shape_text` anything a peer may send. */
bool shape_text_difference(const char *own, const char *peer, char *text, size_t size);

#endif
