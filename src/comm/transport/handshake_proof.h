/* What two ends of a connection prove to each other, and the key they share: all of it from the job
 * secret and from what was said on this connection, so that nothing of it is worth anything on
 * another one. Called by handshake alone. */
#ifndef TRAINYARD_COMM_HANDSHAKE_PROOF_H
#define TRAINYARD_COMM_HANDSHAKE_PROOF_H

#include "comm/transport/handshake.h"
#include "tls/tls.h"

/* The acceptor's proof, into its welcome; it covers all of that but itself. */
void handshake_proof_welcome(const struct handshake *handshake, struct wire_welcome *welcome);

/* The connector's, which covers the whole welcome, as `handshake` has it. */
void handshake_proof_connector(const struct handshake *handshake, uint8_t mac[SECRET_MAC_SIZE]);

/* What the connection is encrypted with; the caller wipes it. */
int handshake_proof_key(const struct handshake *handshake, uint8_t key[TLS_KEY_SIZE],
                        struct err *err);

#endif
