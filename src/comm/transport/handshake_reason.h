/* Why a connection is refused, in words for the log of either end. Called by handshake and by who
 * judges a proven peer. */
#ifndef TRAINYARD_COMM_HANDSHAKE_REASON_H
#define TRAINYARD_COMM_HANDSHAKE_REASON_H

#include "comm/transport/handshake.h"

/* "it belongs to another job …": the verdict as the end of a sentence. */
const char *handshake_reason_text(enum wire_verdict verdict);
/* WIRE_OTHER_SHAPE, with what differs as far as it is known. */
enum { HANDSHAKE_REASON_MAX = 640 };
void handshake_reason_other_shape(const struct handshake *handshake,
                                  char text[HANDSHAKE_REASON_MAX]);

#endif
