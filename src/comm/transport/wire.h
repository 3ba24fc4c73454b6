/* The bytes of the messages of a handshake, and of the frames on control connections. All numbers
 * are little-endian. Decoding checks everything that can be checked without knowing the job. Called
 * by handshake, by the control plane and by membership_message.
 *
 *   connector → HELLO    its rank, the rank it wants, its job and shape, a random nonce
 *   acceptor  → WELCOME  a verdict, a random nonce, a proof that it knows the secret
 *   connector → PROOF    a proof that it knows the secret
 *   acceptor  → VERDICT  accepted, or why not; the addresses of all members if only that of rank 0
 *                        was known
 *
 * If the shapes of the two differ, the connector sends its shape text after its proof, and the
 * acceptor sends its own after the verdict, so that each can report the difference.
 */
#ifndef TRAINYARD_COMM_TRANSPORT_WIRE_H
#define TRAINYARD_COMM_TRANSPORT_WIRE_H

#include "base/err.h"
#include "comm/transport/secret.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WIRE_VERSION = 4,
    WIRE_NONCE_SIZE = 32,
    WIRE_HEAD_SIZE = 8,        /* magic, version, size of the whole message */
    WIRE_HELLO_SIZE = 8 + 104, /* this and the sizes below are those of version 4 */
    WIRE_WELCOME_SIZE = 8 + 80,
    WIRE_PROOF_SIZE = 8 + 32,
    WIRE_VERDICT_SIZE = 8 + 8, /* plus WIRE_ADDRESS_SIZE per address */
    WIRE_ADDRESS_SIZE = 18,
    WIRE_SHAPE_TEXT_MAX = 16384, /* bytes, without the head */
    WIRE_MESSAGE_MAX = 16384 * WIRE_ADDRESS_SIZE + 64,
};

enum wire_verdict {
    WIRE_ACCEPTED,
    WIRE_OTHER_VERSION, /* the version of this protocol differs */
    WIRE_OTHER_JOB,     /* the cluster differs */
    WIRE_OTHER_SHAPE,   /* the model differs */
    WIRE_OTHER_CHANNELS,
    WIRE_WRONG_SECRET,
    WIRE_WRONG_TASK,       /* the peer is not the task that this address stands for */
    WIRE_OTHER_ENCRYPTION, /* only one of the two encrypts */
    WIRE_VERDICTS,
};

struct wire_hello {
    uint16_t version; /* version of the sender; if it is not WIRE_VERSION, no other field is set */
    /* 0: control; 1 to channels: data of the ring; channels + 1: data of a pair. */
    uint16_t channel;
    uint16_t channels;
    uint16_t listen_port;
    /* After WIRE_ACCEPTED the connection continues with TLS; the connector is the client. */
    bool encrypts;
    uint32_t rank, target; /* rank of the connector, and of the task that it wants to reach */
    uint32_t size;
    uint64_t generation; /* generation of the group that the connection belongs to; 0: none yet */
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

/* Reads the version and the size of the whole message. Fails with ERR_BAD_REQUEST if it is not the
 * head of a message of this protocol. */
int wire_head_decode(const uint8_t head[WIRE_HEAD_SIZE], uint16_t *ret_version, size_t *ret_size,
                     struct err *err);

void wire_hello_encode(const struct wire_hello *hello, uint8_t bytes[WIRE_HELLO_SIZE]);
void wire_welcome_encode(const struct wire_welcome *welcome, uint8_t bytes[WIRE_WELCOME_SIZE]);
void wire_proof_encode(const uint8_t mac[SECRET_MAC_SIZE], uint8_t bytes[WIRE_PROOF_SIZE]);
/* `bytes` has room for WIRE_VERDICT_SIZE + count × WIRE_ADDRESS_SIZE. */
void wire_verdict_encode(enum wire_verdict verdict, const struct wire_address *addresses,
                         size_t count, uint8_t *bytes);

/* `size` is the one that the head announced. They fail with ERR_BAD_REQUEST. */
int wire_hello_decode(const uint8_t *bytes, size_t size, struct wire_hello *ret, struct err *err);
int wire_welcome_decode(const uint8_t *bytes, size_t size, struct wire_welcome *ret,
                        struct err *err);
int wire_proof_decode(const uint8_t *bytes, size_t size, uint8_t ret_mac[SECRET_MAC_SIZE],
                      struct err *err);
/* Fails if the message has more than `capacity` addresses; ret_count is their number. */
int wire_verdict_decode(const uint8_t *bytes, size_t size, size_t capacity,
                        enum wire_verdict *ret_verdict, struct wire_address *ret_addresses,
                        size_t *ret_count, struct err *err);

/* Encodes the text, cut to WIRE_SHAPE_TEXT_MAX. `bytes` has room for WIRE_HEAD_SIZE +
 * WIRE_SHAPE_TEXT_MAX. Returns the number of bytes used. */
size_t wire_shape_text_encode(const char *shape_text, uint8_t *bytes);
/* The text ends at the first zero; control characters except line ends become '?'. The caller frees
 * *ret. */
int wire_shape_text_decode(const uint8_t *bytes, size_t size, char **ret, struct err *err);

/* A frame on a control connection is a head and `size` bytes. */
enum wire_frame_type {
    WIRE_FRAME_DATA = 1, /* a contribution to a small collective; `detail`: the kind of the call */
    WIRE_FRAME_PING,     /* asks the peer for a pong */
    WIRE_FRAME_PONG,     /* `sequence`: the call that the sender is in */
    /* The group is broken; the bytes are the reason; `detail`: see WIRE_ABORT_… */
    WIRE_FRAME_ABORT,
    WIRE_FRAME_BYE,     /* the sender leaves the group on purpose */
    WIRE_FRAME_FORMING, /* before the group exists: see membership_message.h */
    WIRE_FRAME_TYPES,
};

enum { WIRE_FRAME_HEAD_SIZE = 24, WIRE_FRAME_MAX = 16384 };

/* The detail of an abort: the code of the error, and above it the rank of the member that stopped
 * answering, plus 1; 0: none did. */
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
