/* What each message of a handshake means: how it is judged, what is answered, and which state
 * follows. Bytes come from and go to handshake.c, which alone calls this. */
#ifndef TRAINYARD_COMM_HANDSHAKE_MESSAGE_H
#define TRAINYARD_COMM_HANDSHAKE_MESSAGE_H

#include "comm/transport/handshake.h"

/* Whether the peer has the word. */
bool handshake_message_awaited(enum handshake_state state);

/* One whole message, in a state that awaits one. */
int handshake_message_take(struct handshake *handshake, const uint8_t *bytes, size_t size,
                           struct err *err);

/* Acceptor: welcome or refuse the one whose greeting is there. */
int handshake_message_answer_hello(struct handshake *handshake, struct err *err);

/* Both have proved themselves and agreed. Where they encrypt, the bytes that follow are of TLS. */
int handshake_message_accepted(struct handshake *handshake, bool connector, struct err *err);

#endif
