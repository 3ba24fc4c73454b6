/* The reasons why a connection is refused, as text for the logs of both ends. Called by
 * handshake*.c and by the code that judges an authenticated peer. */
#ifndef TRAINYARD_COMM_TRANSPORT_HANDSHAKE_REASON_H
#define TRAINYARD_COMM_TRANSPORT_HANDSHAKE_REASON_H

#include "comm/transport/handshake.h"

/* The verdict as the end of a sentence: "it belongs to another job …". */
const char *handshake_reason_text(enum wire_verdict verdict);
/* The text of WIRE_OTHER_SHAPE. It names the options that differ if both shape texts are known. */
enum { HANDSHAKE_REASON_MAX = 640 };
void handshake_reason_other_shape(const struct handshake *handshake,
                                  char text[HANDSHAKE_REASON_MAX]);

#endif
