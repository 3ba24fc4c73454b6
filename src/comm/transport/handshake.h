/* One connection from its first byte to mutual trust, as a state machine that never blocks: the
 * connector greets, the acceptor welcomes or refuses, both prove that they know the job secret, and
 * the acceptor gives its verdict. Driven by rendezvous, which decides what a proven peer means. */
#ifndef TRAINYARD_COMM_HANDSHAKE_H
#define TRAINYARD_COMM_HANDSHAKE_H

#include "base/buf.h"
#include "base/err.h"
#include "comm/transport/connection.h"
#include "comm/transport/wire.h"

#include <stdbool.h>
#include <stdint.h>

/* What all connections of this process say about it. */
struct handshake_identity {
    uint32_t rank, size;
    uint16_t channels;
    uint16_t listen_port;
    uint64_t generation; /* 0: outside of any group */
    uint64_t shape;
    const char *shape_text; /* what it stands for, see terms.h; may be NULL */
    uint8_t job[SECRET_MAC_SIZE];
    const char *secret;
    size_t secret_size;
    const struct tls_psk *encryption; /* NULL: connections are in the clear */
};

enum handshake_state {
    HANDSHAKE_CONNECTING,      /* connector: the connection is not there yet */
    HANDSHAKE_READ_HELLO,      /* acceptor */
    HANDSHAKE_EARLY,           /* acceptor: of another generation than ours, which may come */
    HANDSHAKE_READ_WELCOME,    /* connector */
    HANDSHAKE_READ_PROOF,      /* acceptor */
    HANDSHAKE_READ_SHAPE_TEXT, /* acceptor: of a peer with another shape */
    HANDSHAKE_PROVEN,          /* acceptor: the caller gives its verdict now or later */
    HANDSHAKE_READ_VERDICT,    /* connector */
    HANDSHAKE_READ_REASON,     /* connector: refused for another shape; the peer's terms follow */
    HANDSHAKE_WRITE_VERDICT,   /* acceptor: the last bytes are on their way */
    HANDSHAKE_SECURING,        /* accepted: the connection becomes an encrypted one */
    HANDSHAKE_DONE,
};

struct handshake {
    enum handshake_state state;
    struct connection connection;
    const struct handshake_identity *identity;
    struct wire_hello hello; /* ours as connector; the peer's as acceptor, from READ_PROOF on */
    uint8_t hello_bytes[WIRE_HELLO_SIZE];
    struct wire_welcome welcome;
    enum wire_verdict verdict;      /* what was found; WIRE_ACCEPTED until then */
    bool refused;                   /* by the peer; the verdict says why */
    struct wire_address *addresses; /* connector: `identity->size` of room, filled by a verdict */
    size_t address_count;
    char *peer_shape_text; /* terms of a peer with another shape; NULL: not known */
    int errnum;            /* why the connection broke; 0: it did not */
    struct buf in, out;
};

/* Both take the descriptor. */
void handshake_init_connector(struct handshake *handshake, int fd,
                              const struct handshake_identity *identity, uint32_t target,
                              uint16_t channel);
void handshake_init_acceptor(struct handshake *handshake, int fd,
                             const struct handshake_identity *identity);
void handshake_release(struct handshake *handshake);           /* closes; safe on zeroed memory */
struct connection handshake_take(struct handshake *handshake); /* of one that is done */

/* Acceptor: what this process is has changed; a peer that has said nothing yet, or that came too
 * early, is judged by this. */
void handshake_set_identity(struct handshake *handshake, const struct handshake_identity *identity);

/* What to poll for. */
short handshake_events(const struct handshake *handshake);

/* Go on as far as the connection allows. ERR_UNAVAILABLE: it broke, and trying again may help;
 * ERR_FORBIDDEN: a verdict, ours or the peer's, is in `verdict`; ERR_BAD_REQUEST: not a peer. */
int handshake_progress(struct handshake *handshake, struct err *err);

/* Acceptor in HANDSHAKE_PROVEN: what is to be said to a member of the job that is not like this
 * one, as far as this tells. */
enum wire_verdict handshake_judge_proven(const struct handshake *handshake);

/* Acceptor in HANDSHAKE_PROVEN: accept, with the addresses of all or none, or refuse. */
void handshake_decide(struct handshake *handshake, enum wire_verdict verdict,
                      const struct wire_address *addresses, size_t count);

#endif
