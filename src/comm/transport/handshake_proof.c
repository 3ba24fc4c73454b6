/* Implements the proofs that a process knows the job secret, and the key of TLS; see
 * handshake_proof.h. */
#include "comm/transport/handshake_proof.h"

#include "tls/tls.h"

#include <string.h>

static const char ACCEPTOR_LABEL[] = "trainyard comm acceptor",
                  CONNECTOR_LABEL[] = "trainyard comm connector";

static void proof_compute(const struct handshake *handshake, const char *label,
                          const uint8_t *welcome, size_t size, uint8_t mac[SECRET_MAC_SIZE])
{
    secret_mac(handshake->identity->secret, handshake->identity->secret_size, label,
               handshake->hello_bytes, sizeof(handshake->hello_bytes), welcome, size, mac);
}

void handshake_proof_welcome(const struct handshake *handshake, struct wire_welcome *welcome)
{
    uint8_t bytes[WIRE_WELCOME_SIZE];
    memset(welcome->mac, 0, sizeof(welcome->mac));
    wire_welcome_encode(welcome, bytes);
    proof_compute(handshake, ACCEPTOR_LABEL, bytes, sizeof(bytes), welcome->mac);
}

void handshake_proof_connector(const struct handshake *handshake, uint8_t mac[SECRET_MAC_SIZE])
{
    uint8_t bytes[WIRE_WELCOME_SIZE];
    wire_welcome_encode(&handshake->welcome, bytes);
    proof_compute(handshake, CONNECTOR_LABEL, bytes, sizeof(bytes), mac);
}

int handshake_proof_key(const struct handshake *handshake, uint8_t key[TLS_KEY_SIZE],
                        struct err *err)
{
    static const char LABEL[] = "trainyard comm link";
    const struct handshake_identity *identity = handshake->identity;
    uint8_t welcome[WIRE_WELCOME_SIZE];
    uint8_t messages[sizeof(LABEL) + sizeof(handshake->hello_bytes) + sizeof(welcome)];
    wire_welcome_encode(&handshake->welcome, welcome);
    uint8_t *at = mempcpy(messages, LABEL, sizeof(LABEL));
    at = mempcpy(at, handshake->hello_bytes, sizeof(handshake->hello_bytes));
    memcpy(at, welcome, sizeof(welcome));
    return tls_hkdf(identity->secret, identity->secret_size, identity->job, sizeof(identity->job),
                    messages, sizeof(messages), key, err);
}
