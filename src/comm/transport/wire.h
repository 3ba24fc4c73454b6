/* The messages two processes exchange before they trust each other, and the frames members exchange
 * beside the data: their bytes, and nothing else. All numbers are little-endian. Decoding checks
 * everything that can be checked without knowing the job. Called by handshake and transport_tcp.
 *
 *   connector → HELLO    who I am, whom I want, which job and model, a fresh number
 *   acceptor  → WELCOME  a verdict, a fresh number, proof that I know the secret
 *   connector → PROOF    proof that I know it too
 *   acceptor  → VERDICT  accepted or why not; where only rank 0 has a known address, those of all
 *
 * Where their shapes differ, the connector sends its TERMS after its proof and the acceptor its own
 * after the verdict, so that each can say what differs.
 */
#ifndef TRAINYARD_COMM_WIRE_H
#define TRAINYARD_COMM_WIRE_H

#include "base/err.h"
#include "comm/transport/secret.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WIRE_VERSION = 4,
    WIRE_NONCE_SIZE = 32,
    WIRE_HEAD_SIZE = 8,        /* magic, version, size of the whole message */
    WIRE_HELLO_SIZE = 8 + 104, /* this and the next: what version 4 sends */
    WIRE_WELCOME_SIZE = 8 + 80,
    WIRE_PROOF_SIZE = 8 + 32,
    WIRE_VERDICT_SIZE = 8 + 8, /* and 18 an address */
    WIRE_ADDRESS_SIZE = 18,
    WIRE_SHAPE_TEXT_MAX = 16384, /* without the head */
    WIRE_MESSAGE_MAX = 16384 * WIRE_ADDRESS_SIZE + 64,
};

enum wire_verdict {
    WIRE_ACCEPTED,
    WIRE_OTHER_VERSION, /* of this protocol */
    WIRE_OTHER_JOB,     /* the cluster differs */
    WIRE_OTHER_SHAPE,   /* the model differs */
    WIRE_OTHER_CHANNELS,
    WIRE_WRONG_SECRET,
    WIRE_WRONG_TASK,       /* not the one that was asked for */
    WIRE_OTHER_ENCRYPTION, /* one of two encrypts */
    WIRE_VERDICTS,
};

struct wire_hello {
    uint16_t version; /* the peer's, which may not be ours: then nothing else is set */
    uint16_t channel; /* 0: control; 1 … channels: data; and one more: data of pairs */
    uint16_t channels;
    uint16_t listen_port;
    bool encrypts;         /* what follows an acceptance is TLS, with the connector as client */
    uint32_t rank, target; /* the connector's, and the one it wants to reach */
    uint32_t size;
    uint64_t generation; /* of the group this is a link of; 0: of none, one is to be formed */
    uint64_t shape;
    uint8_t job[SECRET_MAC_SIZE];
    uint8_t nonce[WIRE_NONCE_SIZE];
};

struct wire_welcome {
    uint16_t version;
    enum wire_verdict verdict;
    uint64_t shape;
    uint8_t nonce[WIRE_NONCE_SIZE];
    uint8_t mac[SECRET_MAC_SIZE];
};

struct wire_address {
    uint8_t ip[16]; /* IPv6, or IPv4 mapped into it */
    uint16_t port;
};

/* The size of the whole message its head announces; ERR_BAD_REQUEST if no head of ours. */
int wire_head_decode(const uint8_t head[WIRE_HEAD_SIZE], uint16_t *ret_version, size_t *ret_size,
                     struct err *err);

void wire_hello_encode(const struct wire_hello *hello, uint8_t bytes[WIRE_HELLO_SIZE]);
void wire_welcome_encode(const struct wire_welcome *welcome, uint8_t bytes[WIRE_WELCOME_SIZE]);
void wire_proof_encode(const uint8_t mac[SECRET_MAC_SIZE], uint8_t bytes[WIRE_PROOF_SIZE]);
/* `bytes` has WIRE_VERDICT_SIZE + count × WIRE_ADDRESS_SIZE of room. */
void wire_verdict_encode(enum wire_verdict verdict, const struct wire_address *addresses,
                         size_t count, uint8_t *bytes);

/* `size` is what the head announced. */
int wire_hello_decode(const uint8_t *bytes, size_t size, struct wire_hello *ret, struct err *err);
int wire_welcome_decode(const uint8_t *bytes, size_t size, struct wire_welcome *ret,
                        struct err *err);
int wire_proof_decode(const uint8_t *bytes, size_t size, uint8_t ret_mac[SECRET_MAC_SIZE],
                      struct err *err);
/* At most `capacity` addresses; ret_count how many the message holds. */
int wire_verdict_decode(const uint8_t *bytes, size_t size, size_t capacity,
                        enum wire_verdict *ret_verdict, struct wire_address *ret_addresses,
                        size_t *ret_count, struct err *err);

/* As much of the text as may be sent: `bytes` has WIRE_HEAD_SIZE + WIRE_TERMS_MAX of room. Returns
 * how much was used. */
size_t wire_shape_text_encode(const char *shape_text, uint8_t *bytes);
/* The text, malloc'ed, without zeros and what else is no printable character. */
int wire_shape_text_decode(const uint8_t *bytes, size_t size, char **ret, struct err *err);

/* Between members, on the control connection: a head, then `size` bytes. */
enum wire_frame_type {
    WIRE_FRAME_DATA = 1, /* a small collective's contribution; kind in `detail` */
    WIRE_FRAME_PING,     /* where are you? */
    WIRE_FRAME_PONG,     /* in collective `sequence` */
    WIRE_FRAME_ABORT,    /* the group is broken: the bytes say why; see WIRE_ABORT_… */
    WIRE_FRAME_BYE,      /* leaving in peace */
    WIRE_FRAME_FORMING,  /* before there is a group: see membership_message.h */
    WIRE_FRAME_TYPES,
};

enum { WIRE_FRAME_HEAD_SIZE = 24, WIRE_FRAME_MAX = 16384 };

/* The detail of an abort: the code of the error, and the rank that stopped answering, plus 1, or 0.
 */
enum { WIRE_ABORT_CODE = 0xffff, WIRE_ABORT_RANK_SHIFT = 16 };

struct wire_frame {
    enum wire_frame_type type;
    uint32_t size;
    uint64_t sequence;
    uint64_t detail;
};

void wire_frame_encode(const struct wire_frame *frame, uint8_t bytes[WIRE_FRAME_HEAD_SIZE]);
int wire_frame_decode(const uint8_t bytes[WIRE_FRAME_HEAD_SIZE], struct wire_frame *ret,
                      struct err *err);

#endif
