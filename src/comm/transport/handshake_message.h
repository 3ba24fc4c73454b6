/* The messages of a handshake: how each one is judged, what is answered, and which state follows.
 * Called by handshake.c only, which reads and writes the bytes. */
#ifndef TRAINYARD_COMM_TRANSPORT_HANDSHAKE_MESSAGE_H
#define TRAINYARD_COMM_TRANSPORT_HANDSHAKE_MESSAGE_H

#include "comm/transport/handshake.h"

/* Whether the next message comes from the peer in this state. */
bool handshake_message_awaited(enum handshake_state state);

/* Handles one whole message, in a state that awaits one. Fails as handshake_progress() does. */
int handshake_message_take(struct handshake *handshake, const uint8_t *bytes, size_t size,
                           struct err *err);

/* Acceptor: answers the hello in handshake->hello with a welcome or a refusal. */
int handshake_message_answer_hello(struct handshake *handshake, struct err *err);

/* Both sides are authenticated and agree. Starts TLS if they encrypt; otherwise the handshake is
 * done. */
int handshake_message_accepted(struct handshake *handshake, bool connector, struct err *err);

#endif
