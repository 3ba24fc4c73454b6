/* Handles the messages of a handshake; see handshake_message.h. */
#include "comm/transport/handshake_message.h"

#include "base/mem.h"
#include "base/rand.h"
#include "comm/transport/handshake_proof.h"
#include "comm/transport/handshake_reason.h"
#include "comm/transport/socket.h"

#include <string.h>

static void message_send_shape_text(struct handshake *handshake)
{
    uint8_t bytes[WIRE_HEAD_SIZE + WIRE_SHAPE_TEXT_MAX];
    const char *shape_text = handshake->identity->shape_text;
    buf_append(&handshake->out, bytes, wire_shape_text_encode(shape_text ? shape_text : "", bytes));
}

static int message_refuse(struct handshake *handshake, enum wire_verdict verdict, struct err *err)
{
    handshake->verdict = verdict;
    return err_set(err, ERR_FORBIDDEN, "%s", handshake_reason_text(verdict));
}

static int message_refused_by_peer(struct handshake *handshake, enum wire_verdict verdict,
                                   struct err *err)
{
    handshake->verdict = verdict;
    handshake->refused = true;
    return err_set(err, ERR_FORBIDDEN, "it refused this task, for this reason: %s",
                   handshake_reason_text(verdict));
}

/* Returns the verdict on a hello before the peer is authenticated. Shape and encryption are
 * compared later, after the proof that a member of this job has sent them. */
static enum wire_verdict message_judge_hello(const struct handshake_identity *identity,
                                             const struct wire_hello *hello)
{
    if (hello->version != WIRE_VERSION)
        return WIRE_OTHER_VERSION;
    if (hello->size != identity->size || memcmp(hello->job, identity->job, sizeof(hello->job)) != 0)
        return WIRE_OTHER_JOB;
    if (hello->target != identity->rank)
        return WIRE_WRONG_TASK;
    if (hello->channels != identity->channels)
        return WIRE_OTHER_CHANNELS;
    return WIRE_ACCEPTED;
}

enum wire_verdict handshake_judge_proven(const struct handshake *handshake)
{
    if (handshake->hello.encrypts != (handshake->identity->encryption != NULL))
        return WIRE_OTHER_ENCRYPTION;
    if (handshake->hello.shape != handshake->identity->shape)
        return WIRE_OTHER_SHAPE;
    return WIRE_ACCEPTED;
}

int handshake_message_answer_hello(struct handshake *handshake, struct err *err)
{
    struct wire_welcome *welcome = &handshake->welcome;
    *welcome = (struct wire_welcome){
        .version = WIRE_VERSION,
        .verdict = message_judge_hello(handshake->identity, &handshake->hello),
        .shape = handshake->identity->shape};
    rand_secure(welcome->nonce, sizeof(welcome->nonce));
    uint8_t answer[WIRE_WELCOME_SIZE];
    if (welcome->verdict != WIRE_ACCEPTED) {
        /* Sent without waiting: a few bytes always fit into the send buffer of a new connection. */
        wire_welcome_encode(welcome, answer);
        (void)socket_send(handshake->connection.fd, answer, sizeof(answer));
        return message_refuse(handshake, welcome->verdict, err);
    }
    handshake_proof_welcome(handshake, welcome);
    wire_welcome_encode(welcome, answer);
    buf_append(&handshake->out, answer, sizeof(answer));
    handshake->state = HANDSHAKE_READ_PROOF;
    return 0;
}

static int message_on_hello(struct handshake *handshake, const uint8_t *bytes, size_t size,
                            struct err *err)
{
    int result = wire_hello_decode(bytes, size, &handshake->hello, err);
    if (result < 0)
        return result;
    bool same_version = handshake->hello.version == WIRE_VERSION;
    if (same_version)
        memcpy(handshake->hello_bytes, bytes, sizeof(handshake->hello_bytes));
    if (same_version && handshake->hello.generation != handshake->identity->generation) {
        handshake->state = HANDSHAKE_EARLY;
        return 0;
    }
    return handshake_message_answer_hello(handshake, err);
}

static int message_on_welcome(struct handshake *handshake, const uint8_t *bytes, size_t size,
                              struct err *err)
{
    struct wire_welcome *welcome = &handshake->welcome;
    int result = wire_welcome_decode(bytes, size, welcome, err);
    if (result < 0)
        return result;
    if (welcome->verdict != WIRE_ACCEPTED)
        return message_refused_by_peer(handshake, welcome->verdict, err);
    struct wire_welcome expected = *welcome;
    handshake_proof_welcome(handshake, &expected);
    uint8_t mac[SECRET_MAC_SIZE], proof[WIRE_PROOF_SIZE];
    handshake_proof_connector(handshake, mac);
    wire_proof_encode(mac, proof);
    if (!secret_mac_equal(expected.mac, welcome->mac)) {
        /* The peer cannot accept this proof either, but the wrong proof tells the peer why the
         * connection ends. */
        (void)socket_send(handshake->connection.fd, proof, sizeof(proof));
        return message_refuse(handshake, WIRE_WRONG_SECRET, err);
    }
    buf_append(&handshake->out, proof, sizeof(proof));
    if (welcome->shape != handshake->identity->shape)
        message_send_shape_text(handshake);
    handshake->state = HANDSHAKE_READ_VERDICT;
    return 0;
}

static int message_on_proof(struct handshake *handshake, const uint8_t *bytes, size_t size,
                            struct err *err)
{
    uint8_t mac[SECRET_MAC_SIZE], expected[SECRET_MAC_SIZE];
    int result = wire_proof_decode(bytes, size, mac, err);
    if (result < 0)
        return result;
    handshake_proof_connector(handshake, expected);
    if (!secret_mac_equal(expected, mac)) {
        handshake_decide(handshake, WIRE_WRONG_SECRET, NULL, 0);
        (void)socket_send(handshake->connection.fd, handshake->out.data, handshake->out.size);
        return message_refuse(handshake, WIRE_WRONG_SECRET, err);
    }
    bool same = handshake->hello.shape == handshake->identity->shape;
    handshake->state = same ? HANDSHAKE_PROVEN : HANDSHAKE_READ_SHAPE_TEXT;
    return 0;
}

int handshake_message_accepted(struct handshake *handshake, bool connector, struct err *err)
{
    const struct tls_stream_context *encryption = handshake->identity->encryption;
    if (!encryption) {
        handshake->state = HANDSHAKE_DONE;
        return 0;
    }
    uint8_t key[TLS_KEY_SIZE];
    int result = handshake_proof_key(handshake, key, err);
    if (result < 0)
        return result;
    handshake->connection.tls =
        tls_stream_new(encryption, handshake->connection.fd, connector, key);
    explicit_bzero(key, sizeof(key));
    handshake->state = HANDSHAKE_SECURING;
    return 0;
}

static int message_on_shape_text(struct handshake *handshake, const uint8_t *bytes, size_t size,
                                 struct err *err)
{
    int result = wire_shape_text_decode(bytes, size, &handshake->peer_shape_text, err);
    if (result == 0)
        handshake->state = HANDSHAKE_PROVEN;
    return result;
}

static int message_on_reason(struct handshake *handshake, const uint8_t *bytes, size_t size,
                             struct err *err)
{
    char why[HANDSHAKE_REASON_MAX];
    int result = wire_shape_text_decode(bytes, size, &handshake->peer_shape_text, err);
    if (result < 0)
        return result;
    handshake->verdict = WIRE_OTHER_SHAPE;
    handshake->refused = true;
    handshake_reason_other_shape(handshake, why);
    return err_set(err, ERR_FORBIDDEN, "it refused this task: %s", why);
}

static int message_on_verdict(struct handshake *handshake, const uint8_t *bytes, size_t size,
                              struct err *err)
{
    enum wire_verdict verdict;
    int result = wire_verdict_decode(bytes, size, handshake->identity->size, &verdict,
                                     handshake->addresses, &handshake->address_count, err);
    if (result < 0)
        return result;
    if (verdict == WIRE_OTHER_SHAPE) {
        handshake->state = HANDSHAKE_READ_REASON;
        return 0;
    }
    if (verdict != WIRE_ACCEPTED)
        return message_refused_by_peer(handshake, verdict, err);
    return handshake_message_accepted(handshake, true, err);
}

void handshake_decide(struct handshake *handshake, enum wire_verdict verdict,
                      const struct wire_address *addresses, size_t count)
{
    size_t size = WIRE_VERDICT_SIZE + count * WIRE_ADDRESS_SIZE;
    uint8_t *room = (uint8_t *)buf_reserve(&handshake->out, size);
    if (!room)
        mem_panic("handshake: %zu addresses do not fit a verdict", count);
    wire_verdict_encode(verdict, addresses, count, room);
    buf_commit(&handshake->out, size);
    if (verdict == WIRE_OTHER_SHAPE)
        message_send_shape_text(handshake);
    handshake->verdict = verdict;
    handshake->state = HANDSHAKE_WRITE_VERDICT;
}

static int (*const ON_MESSAGE[])(struct handshake *, const uint8_t *, size_t, struct err *) = {
    [HANDSHAKE_READ_HELLO] = message_on_hello,
    [HANDSHAKE_READ_WELCOME] = message_on_welcome,
    [HANDSHAKE_READ_PROOF] = message_on_proof,
    [HANDSHAKE_READ_SHAPE_TEXT] = message_on_shape_text,
    [HANDSHAKE_READ_VERDICT] = message_on_verdict,
    [HANDSHAKE_READ_REASON] = message_on_reason,
    [HANDSHAKE_DONE] = NULL,
};

bool handshake_message_awaited(enum handshake_state state)
{
    return ON_MESSAGE[state] != NULL;
}

int handshake_message_handle(struct handshake *handshake, const uint8_t *bytes, size_t size,
                             struct err *err)
{
    return ON_MESSAGE[handshake->state](handshake, bytes, size, err);
}
