/* Handles the messages of a handshake: checks each message, prepares the answer, and sets the next
 * state. Called by handshake.c only, which reads and writes the bytes. */
#ifndef TRAINYARD_COMM_TRANSPORT_HANDSHAKE_MESSAGE_H
#define TRAINYARD_COMM_TRANSPORT_HANDSHAKE_MESSAGE_H

#include "comm/transport/handshake.h"

/* Whether a handshake in this state reads a message of the peer. */
bool handshake_message_awaited(enum handshake_state state);

/* Handles one whole message. handshake_message_awaited() must be true. Fails like
 * handshake_progress(). */
int handshake_message_handle(struct handshake *handshake, const uint8_t *bytes, size_t size,
                             struct err *err);

/* Acceptor: answers the hello in handshake->hello with a welcome or a rejection. If it rejects the
 * peer, it sends the rejection at once and fails with ERR_FORBIDDEN. */
int handshake_message_answer_hello(struct handshake *handshake, struct err *err);

/* Called when both sides have authenticated and accepted each other. Starts TLS if the connection
 * is to be encrypted; otherwise ends the handshake. */
int handshake_message_accepted(struct handshake *handshake, bool connector, struct err *err);

#endif
