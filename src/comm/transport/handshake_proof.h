/* Computes the proofs that the two ends of a connection send to each other, and the key of their
 * TLS session. Proofs and key depend on the job secret and on the messages of this connection, so
 * that they are invalid on any other connection. Called by handshake*.c only. */
#ifndef TRAINYARD_COMM_TRANSPORT_HANDSHAKE_PROOF_H
#define TRAINYARD_COMM_TRANSPORT_HANDSHAKE_PROOF_H

#include "comm/transport/handshake.h"
#include "tls/tls.h"

/* Writes the acceptor's proof into welcome->mac. The proof covers the hello and the rest of the
 * welcome. */
void handshake_proof_welcome(const struct handshake *handshake, struct wire_welcome *welcome);

/* Computes the connector's proof. The proof covers the hello and the whole welcome in
 * `handshake`. */
void handshake_proof_connector(const struct handshake *handshake, uint8_t mac[SECRET_MAC_SIZE]);

/* Computes the pre-shared key of the TLS session. The caller must wipe `key` after use. */
int handshake_proof_key(const struct handshake *handshake, uint8_t key[TLS_KEY_SIZE],
                        struct err *err);

#endif
