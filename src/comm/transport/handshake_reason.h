/* Describes the reason why a connection is rejected, as text for the logs of both ends. Called by
 * handshake*.c and by the code that accepts or rejects an authenticated peer. */
#ifndef TRAINYARD_COMM_TRANSPORT_HANDSHAKE_REASON_H
#define TRAINYARD_COMM_TRANSPORT_HANDSHAKE_REASON_H

#include "comm/transport/handshake.h"

/* Returns the reason as a clause about the peer: "it belongs to another job …". */
const char *handshake_reason_text(enum wire_verdict verdict);
/* Writes the text for WIRE_OTHER_SHAPE. If both shape texts are known and differ, the text names up
 * to three options that differ. */
enum { HANDSHAKE_REASON_MAX = 640 };
void handshake_reason_other_shape(const struct handshake *handshake,
                                  char text[HANDSHAKE_REASON_MAX]);

#endif
