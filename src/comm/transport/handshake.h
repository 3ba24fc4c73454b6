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

/* The data of this process that it sends in its handshakes, and compares with the data of the
 * peers. The meaning of the fields is that of struct wire_hello. */
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
    const struct tls_stream_context *encryption; /* NULL: connections are not encrypted */
};

enum handshake_state {
    HANDSHAKE_CONNECTING, /* connector: the TCP connection is not established yet */
    HANDSHAKE_READ_HELLO, /* acceptor */
    /* acceptor: waits because the peer belongs to another generation, which this task may join
     * later */
    HANDSHAKE_EARLY,
    HANDSHAKE_READ_WELCOME,    /* connector */
    HANDSHAKE_READ_PROOF,      /* acceptor */
    HANDSHAKE_READ_SHAPE_TEXT, /* acceptor: the peer has another shape */
    HANDSHAKE_PROVEN,          /* acceptor: waits for handshake_decide() */
    HANDSHAKE_READ_VERDICT,    /* connector */
    /* connector: rejected for another shape; reads the shape text of the peer */
    HANDSHAKE_READ_REASON,
    HANDSHAKE_WRITE_VERDICT, /* acceptor: the last bytes are being sent */
    HANDSHAKE_SECURING,      /* both: accepted; the TLS handshake runs */
    HANDSHAKE_DONE,
};

struct handshake {
    enum handshake_state state;
    struct connection connection;
    const struct handshake_identity *identity;
    /* The hello of the connector, and its encoded bytes. On the acceptor valid in all states after
     * HANDSHAKE_READ_HELLO. */
    struct wire_hello hello;
    uint8_t hello_bytes[WIRE_HELLO_SIZE];
    struct wire_welcome welcome; /* the welcome; valid after it was made or received */
    enum wire_verdict verdict;   /* WIRE_ACCEPTED until one side rejects the other */
    bool refused;                /* the peer has rejected this task; `verdict` is the reason */
    /* connector: identity->size entries. In the master form, the addresses of all members arrive
     * with the verdict. */
    struct wire_address *addresses;
    size_t address_count;  /* number of received addresses; 0: none were sent */
    char *peer_shape_text; /* shape text of a peer with another shape; NULL: not known */
    int errnum;            /* errno of the broken connection; 0: it is not broken */
    struct buf in, out;    /* received bytes of the current message, and bytes to send */
};

/* Starts a handshake on the descriptor, which the handshake owns from now on. `identity` must
 * outlive the handshake. `target` is the rank that the connector wants to reach; for `channel` see
 * struct wire_hello. */
void handshake_init_connector(struct handshake *handshake, int fd,
                              const struct handshake_identity *identity, uint32_t target,
                              uint16_t channel);
/* Like handshake_init_connector(), for the acceptor. */
void handshake_init_acceptor(struct handshake *handshake, int fd,
                             const struct handshake_identity *identity);
/* Closes the connection, unless it was taken, and frees all data. Safe on zeroed memory. */
void handshake_release(struct handshake *handshake);

/* Returns the connection, and removes it from the handshake. Must be called only in
 * HANDSHAKE_DONE. */
struct connection handshake_take(struct handshake *handshake);

/* Acceptor: replaces the identity of this process. Has an effect only in HANDSHAKE_READ_HELLO and
 * HANDSHAKE_EARLY, before the first check of the peer. */
void handshake_set_identity(struct handshake *handshake, const struct handshake_identity *identity);

/* Returns the poll() events that the handshake needs now. */
short handshake_events(const struct handshake *handshake);

/* Continues as far as the connection allows. Fails with ERR_UNAVAILABLE if the connection broke and
 * another attempt may help, with ERR_FORBIDDEN if the peer rejected this task or the
 * handshake itself rejected the peer (`verdict` is the reason), and with ERR_BAD_REQUEST if the
 * peer does not use this protocol. If the caller rejected the peer with handshake_decide(), that
 * is no error: the function returns 0 and ends in HANDSHAKE_DONE. */
int handshake_progress(struct handshake *handshake, struct err *err);

/* Acceptor in HANDSHAKE_PROVEN: compares encryption and shape with the peer. Returns WIRE_ACCEPTED
 * if both match, otherwise the reason of the rejection. */
enum wire_verdict handshake_judge_proven(const struct handshake *handshake);

/* Acceptor in HANDSHAKE_PROVEN: accepts or rejects the peer. Queues the verdict and `count`
 * addresses, which may be 0; handshake_progress() sends them. */
void handshake_decide(struct handshake *handshake, enum wire_verdict verdict,
                      const struct wire_address *addresses, size_t count);

#endif
