/* The handshake of one connection, from its first byte to mutual authentication, as a state machine
 * that never blocks. The connector sends a hello, and the acceptor answers with a welcome or a
 * rejection. Both prove that they know the job secret. Then the acceptor sends its verdict. Called
 * by rendezvous, peer_listener and ps, which decide what to do with an authenticated peer. */
#ifndef TRAINYARD_COMM_TRANSPORT_HANDSHAKE_H
#define TRAINYARD_COMM_TRANSPORT_HANDSHAKE_H

#include "base/buf.h"
#include "base/err.h"
#include "comm/transport/connection.h"
#include "comm/transport/wire.h"

#include <stdbool.h>
#include <stdint.h>

/* The data that this process sends and compares in all its handshakes. */
struct handshake_identity {
    uint32_t rank, size;
    uint16_t channels;
    uint16_t listen_port;
    uint64_t generation; /* generation of the group of the connection; 0: no group yet */
    uint64_t shape;
    const char *shape_text; /* text of which `shape` is the hash (shape_text.h); may be NULL */
    uint8_t job[SECRET_MAC_SIZE];
    const char *secret;
    size_t secret_size;
    const struct tls_psk *encryption; /* NULL: connections are not encrypted */
};

enum handshake_state {
    HANDSHAKE_CONNECTING,      /* connector: the TCP connection is not established yet */
    HANDSHAKE_READ_HELLO,      /* acceptor */
    HANDSHAKE_EARLY,           /* acceptor: the peer belongs to a generation that this task may join
                                * later */
    HANDSHAKE_READ_WELCOME,    /* connector */
    HANDSHAKE_READ_PROOF,      /* acceptor */
    HANDSHAKE_READ_SHAPE_TEXT, /* acceptor: the peer has another shape */
    HANDSHAKE_PROVEN,          /* acceptor: waits for handshake_decide() */
    HANDSHAKE_READ_VERDICT,    /* connector */
    HANDSHAKE_READ_REASON,     /* connector: rejected for another shape; reads the peer's shape
                                * text */
    HANDSHAKE_WRITE_VERDICT,   /* acceptor: the last bytes are being sent */
    HANDSHAKE_SECURING,        /* both: accepted; the TLS handshake runs */
    HANDSHAKE_DONE,
};

struct handshake {
    enum handshake_state state;
    struct connection connection;
    const struct handshake_identity *identity;
    /* The connector's hello. Valid on the acceptor in all states after HANDSHAKE_READ_HELLO. */
    struct wire_hello hello;
    uint8_t hello_bytes[WIRE_HELLO_SIZE];
    struct wire_welcome welcome;
    enum wire_verdict verdict;      /* WIRE_ACCEPTED until one side rejects the other */
    bool refused;                   /* the peer has rejected this task; `verdict` is the reason */
    struct wire_address *addresses; /* connector: identity->size entries, received with the
                                     * verdict */
    size_t address_count;
    char *peer_shape_text; /* shape text of a peer with another shape; NULL: not known */
    int errnum;            /* errno of the broken connection; 0: it is not broken */
    struct buf in, out;
};

/* Both take ownership of the descriptor. `identity` must outlive the handshake. */
void handshake_init_connector(struct handshake *handshake, int fd,
                              const struct handshake_identity *identity, uint32_t target,
                              uint16_t channel);
void handshake_init_acceptor(struct handshake *handshake, int fd,
                             const struct handshake_identity *identity);
void handshake_release(struct handshake *handshake); /* closes the connection; safe on zeroed
                                                      * memory */
/* Returns the connection, and removes it from the handshake. Only in HANDSHAKE_DONE. */
struct connection handshake_take(struct handshake *handshake);

/* Acceptor: replaces the identity of this process. Has an effect only in HANDSHAKE_READ_HELLO and
 * HANDSHAKE_EARLY, before the first check of the peer. */
void handshake_set_identity(struct handshake *handshake, const struct handshake_identity *identity);

/* Returns the poll() events that the handshake needs now. */
short handshake_events(const struct handshake *handshake);

/* Continues as far as the connection allows. Fails with ERR_UNAVAILABLE if the connection broke and
 * another attempt may help, with ERR_FORBIDDEN if the peer rejected this task or the
 * handshake itself rejected the peer (`verdict` is the reason), and with ERR_BAD_REQUEST if the
 * peer does not speak this protocol. If the caller rejected the peer with handshake_decide(), that
 * is no error: the function returns 0 and ends in HANDSHAKE_DONE. */
int handshake_progress(struct handshake *handshake, struct err *err);

/* Acceptor in HANDSHAKE_PROVEN: compares encryption and shape with the peer. Returns WIRE_ACCEPTED
 * if both match, otherwise the reason of the rejection. */
enum wire_verdict handshake_judge_proven(const struct handshake *handshake);

/* Acceptor in HANDSHAKE_PROVEN: accepts or rejects the peer. With WIRE_ACCEPTED, also sends `count`
 * addresses, which may be 0. */
void handshake_decide(struct handshake *handshake, enum wire_verdict verdict,
                      const struct wire_address *addresses, size_t count);

#endif
