/* Encodes and decodes the messages of a handshake and the frames on control connections. All
 * numbers are little-endian. Decoding checks everything that can be checked without knowing the
 * job. Called by handshake, by control*.c, by peer_discovery and by membership_message.
 *
 *   connector → HELLO    its rank, the rank of the acceptor, job, shape, encryption, a random nonce
 *   acceptor  → WELCOME  a verdict, a random nonce, a proof that it knows the secret
 *   connector → PROOF    a proof that it knows the secret
 *   acceptor  → VERDICT  accepted, or the reason of the rejection; in the master form also the
 *                        addresses of all members
 *
 * If the shapes differ, the connector sends its shape text (shape_text.h) after its proof, and the
 * acceptor sends its shape text after the verdict WIRE_OTHER_SHAPE. So each side can report the
 * difference. */
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
    WIRE_HELLO_SIZE = 8 + 104, /* the message sizes are those of version 4 */
    WIRE_WELCOME_SIZE = 8 + 80,
    WIRE_PROOF_SIZE = 8 + 32,
    WIRE_VERDICT_SIZE = 8 + 8, /* plus WIRE_ADDRESS_SIZE per address */
    WIRE_ADDRESS_SIZE = 18,
    WIRE_SHAPE_TEXT_MAX = 16384, /* limit in bytes, without the head */
    WIRE_MESSAGE_MAX = 16384 * WIRE_ADDRESS_SIZE + 64,
};

enum wire_verdict {
    WIRE_ACCEPTED,
    WIRE_OTHER_VERSION, /* the version of this protocol differs */
    WIRE_OTHER_JOB,     /* the cluster differs */
    WIRE_OTHER_SHAPE,   /* the model differs */
    WIRE_OTHER_CHANNELS,
    WIRE_WRONG_SECRET,
    WIRE_WRONG_TASK,       /* the peer wanted to reach another task at this address */
    WIRE_OTHER_ENCRYPTION, /* only one side uses encryption */
    WIRE_VERDICTS,
};

struct wire_hello {
    /* version of the sender; the other fields are set only if it is WIRE_VERSION */
    uint16_t version;
    /* 0: control; 1 to `channels`: data of the ring; `channels` + 1: data of a pair. */
    uint16_t channel;
    uint16_t channels;    /* number of data connections to each neighbour in the ring */
    uint16_t listen_port; /* port on which the connector listens */
    /* The sender uses encryption: after WIRE_ACCEPTED the connection continues with TLS, and the
     * connector is the TLS client. */
    bool encrypts;
    /* rank of the connector, and rank of the acceptor that it wants to reach */
    uint32_t rank, target;
    uint32_t size;                /* number of tasks that have a rank */
    uint64_t generation;          /* generation of the group of the connection; 0: no group yet */
    uint64_t shape;               /* hash of the shape text */
    uint8_t job[SECRET_MAC_SIZE]; /* hash of the cluster description */
    uint8_t nonce[WIRE_NONCE_SIZE];
};

struct wire_welcome {
    uint16_t version;
    enum wire_verdict verdict;
    uint64_t shape;
    uint8_t nonce[WIRE_NONCE_SIZE];
    uint8_t mac[SECRET_MAC_SIZE]; /* the proof of the acceptor */
};

struct wire_address {
    uint8_t ip[16]; /* an IPv6 or IPv4-mapped IPv6 address */
    uint16_t port;
};

/* Reads the version and the size of the whole message from its head. Fails with ERR_BAD_REQUEST if
 * the bytes are not a head of this protocol. */
int wire_head_decode(const uint8_t head[WIRE_HEAD_SIZE], uint16_t *ret_version, size_t *ret_size,
                     struct err *err);

/* Encodes a whole message, including its head. */
void wire_hello_encode(const struct wire_hello *hello, uint8_t bytes[WIRE_HELLO_SIZE]);
void wire_welcome_encode(const struct wire_welcome *welcome, uint8_t bytes[WIRE_WELCOME_SIZE]);
void wire_proof_encode(const uint8_t mac[SECRET_MAC_SIZE], uint8_t bytes[WIRE_PROOF_SIZE]);
/* Encodes a verdict and `count` addresses. `bytes` has room for WIRE_VERDICT_SIZE + count ×
 * WIRE_ADDRESS_SIZE. */
void wire_verdict_encode(enum wire_verdict verdict, const struct wire_address *addresses,
                         size_t count, uint8_t *bytes);

/* Decodes a whole message. `size` is the size from its head. An invalid message fails with
 * ERR_BAD_REQUEST. */
int wire_hello_decode(const uint8_t *bytes, size_t size, struct wire_hello *ret, struct err *err);
int wire_welcome_decode(const uint8_t *bytes, size_t size, struct wire_welcome *ret,
                        struct err *err);
int wire_proof_decode(const uint8_t *bytes, size_t size, uint8_t ret_mac[SECRET_MAC_SIZE],
                      struct err *err);
/* Decodes a verdict. Sets *ret_count to the number of addresses. Fails if it is greater than
 * `capacity`, the number of elements of ret_addresses. */
int wire_verdict_decode(const uint8_t *bytes, size_t size, size_t capacity,
                        enum wire_verdict *ret_verdict, struct wire_address *ret_addresses,
                        size_t *ret_count, struct err *err);

/* Encodes the text, truncated to WIRE_SHAPE_TEXT_MAX bytes. `bytes` has room for WIRE_HEAD_SIZE +
 * WIRE_SHAPE_TEXT_MAX bytes. Returns the number of bytes used. */
size_t wire_shape_text_encode(const char *shape_text, uint8_t *bytes);
/* Decodes a shape text. The text ends at the first zero byte. Control characters other than
 * newlines are replaced by '?'. The caller frees *ret. */
int wire_shape_text_decode(const uint8_t *bytes, size_t size, char **ret, struct err *err);

/* The types of frames on control connections. A frame is a head and `size` bytes. */
enum wire_frame_type {
    WIRE_FRAME_DATA = 1, /* a contribution to a small collective; `detail`: enum control_call */
    WIRE_FRAME_PING,     /* asks the peer for a pong; `sequence`: the current call of the sender */
    WIRE_FRAME_PONG,     /* the answer to a ping; `sequence`: the current call of the sender */
    /* The group is broken. The bytes are the reason as text; `detail`: see WIRE_ABORT_… */
    WIRE_FRAME_ABORT,
    WIRE_FRAME_BYE,     /* the sender leaves the group on purpose; `sequence`: its last call */
    WIRE_FRAME_FORMING, /* before the group exists; see membership_message.h */
    WIRE_FRAME_TYPES,
};

enum { WIRE_FRAME_HEAD_SIZE = 24, WIRE_FRAME_MAX = 16384 };

/* The `detail` of WIRE_FRAME_ABORT: the error code in the low 16 bits. The bits above are rank + 1
 * of the member that stopped answering, or 0 if no member stopped answering. */
enum { WIRE_ABORT_CODE = 0xffff, WIRE_ABORT_RANK_SHIFT = 16 };

struct wire_frame {
    enum wire_frame_type type;
    uint32_t size;     /* number of bytes after the head */
    uint64_t sequence; /* number of a call of the group; WIRE_FRAME_FORMING: a generation */
    uint64_t detail;   /* depends on the type */
};

void wire_frame_encode(const struct wire_frame *frame, uint8_t bytes[WIRE_FRAME_HEAD_SIZE]);
/* Decodes the head of a frame. Fails with ERR_INTERNAL if its type or size is invalid. */
int wire_frame_decode(const uint8_t bytes[WIRE_FRAME_HEAD_SIZE], struct wire_frame *ret,
                      struct err *err);

#endif
