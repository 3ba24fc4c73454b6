/* The proofs that the two ends of a connection send each other, and the key that they share. All
 * are computed from the job secret and from the messages of this connection, so that none is valid
 * on another connection. Called by handshake*.c only. */
#ifndef TRAINYARD_COMM_TRANSPORT_HANDSHAKE_PROOF_H
#define TRAINYARD_COMM_TRANSPORT_HANDSHAKE_PROOF_H

#include "comm/transport/handshake.h"
#include "tls/tls.h"

/* Computes the acceptor's proof into its welcome. It covers the welcome except the proof itself. */
void handshake_proof_welcome(const struct handshake *handshake, struct wire_welcome *welcome);

/* Computes the connector's proof. It covers the whole welcome in `handshake`. */
void handshake_proof_connector(const struct handshake *handshake, uint8_t mac[SECRET_MAC_SIZE]);

/* Computes the pre-shared key of the TLS session. The caller wipes it. */
int handshake_proof_key(const struct handshake *handshake, uint8_t key[TLS_KEY_SIZE],
                        struct err *err);

#endif
