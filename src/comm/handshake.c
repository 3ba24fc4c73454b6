/* One connection from its first byte to mutual trust; see handshake.h. */
#include "comm/handshake.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/str.h"
#include "comm/socket.h"
#include "comm/terms.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char ACCEPTOR_LABEL[] = "trainyard comm acceptor",
                  CONNECTOR_LABEL[] = "trainyard comm connector";

const char *handshake_verdict_text(enum wire_verdict verdict)
{
    static const char *const TEXTS[WIRE_VERDICTS] = {
        [WIRE_ACCEPTED] = "it was accepted",
        [WIRE_OTHER_VERSION] = "it speaks another version of the protocol: run the same version of "
                               "the program in all tasks",
        [WIRE_OTHER_JOB] = "it belongs to another job: its cluster differs from this task's",
        [WIRE_OTHER_SHAPE] = "its model has another shape: start all tasks with the same model and "
                             "flags",
        [WIRE_OTHER_CHANNELS] = "it uses another number of channels: start all tasks with the same "
                                "flags",
        [WIRE_WRONG_SECRET] = "it does not know this task's job secret: give all tasks the same "
                              "TRAINYARD_JOB_SECRET",
        [WIRE_WRONG_TASK] = "it is another task than this address stands for: two addresses lead "
                            "to one process",
        [WIRE_OTHER_ENCRYPTION] = "only one of it and this task encrypts: give all tasks --encrypt "
                                  "(TRAINER_ENCRYPT), or none",
    };
    return (unsigned)verdict < WIRE_VERDICTS ? TEXTS[verdict] : "for an unknown reason";
}

void handshake_other_shape(const struct handshake *handshake, char text[HANDSHAKE_REASON_MAX])
{
    char difference[HANDSHAKE_REASON_MAX - 64];
    const char *ours = handshake->identity->terms;
    if (ours && handshake->theirs &&
        terms_difference(ours, handshake->theirs, difference, sizeof(difference)))
        snprintf(text, HANDSHAKE_REASON_MAX,
                 "its options differ: %s; start all tasks with the same", difference);
    else
        str_copy(text, HANDSHAKE_REASON_MAX, handshake_verdict_text(WIRE_OTHER_SHAPE));
}

static void send_terms(struct handshake *handshake)
{
    uint8_t bytes[WIRE_HEAD_SIZE + WIRE_TERMS_MAX];
    const char *terms = handshake->identity->terms;
    buf_append(&handshake->out, bytes, wire_terms_encode(terms ? terms : "", bytes));
}

static void init(struct handshake *handshake, int fd, const struct handshake_identity *identity,
                 enum handshake_state state)
{
    *handshake = (struct handshake){.state = state, .link = {.fd = fd}, .identity = identity};
    buf_init(&handshake->in, WIRE_MESSAGE_MAX);
    buf_init(&handshake->out, WIRE_MESSAGE_MAX);
}

void handshake_init_connector(struct handshake *handshake, int fd,
                              const struct handshake_identity *identity, uint32_t target,
                              uint16_t channel)
{
    init(handshake, fd, identity, HANDSHAKE_CONNECTING);
    handshake->addresses = mem_calloc(identity->size, sizeof(*handshake->addresses));
    struct wire_hello *hello = &handshake->hello;
    *hello = (struct wire_hello){.version = WIRE_VERSION,
                                 .channel = channel,
                                 .channels = identity->channels,
                                 .listen_port = identity->listen_port,
                                 .rank = identity->rank,
                                 .target = target,
                                 .size = identity->size,
                                 .encrypts = identity->encryption != NULL,
                                 .generation = identity->generation,
                                 .shape = identity->shape};
    memcpy(hello->job, identity->job, sizeof(hello->job));
    rand_secure(hello->nonce, sizeof(hello->nonce));
    wire_hello_encode(hello, handshake->hello_bytes);
}

void handshake_init_acceptor(struct handshake *handshake, int fd,
                             const struct handshake_identity *identity)
{
    init(handshake, fd, identity, HANDSHAKE_READ_HELLO);
}

void handshake_release(struct handshake *handshake)
{
    if (!handshake->identity)
        return;
    connection_close(&handshake->link);
    free(handshake->addresses);
    free(handshake->theirs);
    buf_release(&handshake->in);
    buf_release(&handshake->out);
    *handshake = (struct handshake){.link = CONNECTION_NONE};
}

struct connection handshake_take(struct handshake *handshake)
{
    return connection_take(&handshake->link);
}

void handshake_adopt(struct handshake *handshake, const struct handshake_identity *identity)
{
    if (handshake->state == HANDSHAKE_READ_HELLO || handshake->state == HANDSHAKE_EARLY)
        handshake->identity = identity;
}

short handshake_events(const struct handshake *handshake)
{
    if (handshake->state == HANDSHAKE_SECURING)
        return tls_stream_wants_to_send(handshake->link.tls) ? POLLOUT : POLLIN;
    if (handshake->state == HANDSHAKE_CONNECTING || handshake->out.size)
        return POLLOUT;
    return POLLIN;
}

static void proof_of(const struct handshake *handshake, const char *label, const uint8_t *welcome,
                     size_t size, uint8_t mac[SECRET_MAC_SIZE])
{
    secret_mac(handshake->identity->secret, handshake->identity->secret_size, label,
               handshake->hello_bytes, sizeof(handshake->hello_bytes), welcome, size, mac);
}

/* The acceptor's proof covers all of its welcome but the proof itself. */
static void sign_welcome(const struct handshake *handshake, struct wire_welcome *welcome)
{
    uint8_t bytes[WIRE_WELCOME_SIZE];
    memset(welcome->mac, 0, sizeof(welcome->mac));
    wire_welcome_encode(welcome, bytes);
    proof_of(handshake, ACCEPTOR_LABEL, bytes, sizeof(bytes), welcome->mac);
}

static void connector_proof(const struct handshake *handshake, uint8_t mac[SECRET_MAC_SIZE])
{
    uint8_t bytes[WIRE_WELCOME_SIZE];
    wire_welcome_encode(&handshake->welcome, bytes);
    proof_of(handshake, CONNECTOR_LABEL, bytes, sizeof(bytes), mac);
}

static int refuse(struct handshake *handshake, enum wire_verdict verdict, struct err *err)
{
    handshake->verdict = verdict;
    return err_set(err, ERR_FORBIDDEN, "%s", handshake_verdict_text(verdict));
}

static int refused_by_peer(struct handshake *handshake, enum wire_verdict verdict, struct err *err)
{
    handshake->verdict = verdict;
    handshake->refused = true;
    return err_set(err, ERR_FORBIDDEN, "it refused this task, seen from there: %s",
                   handshake_verdict_text(verdict));
}

/* What can be said of a greeting before the peer has proved anything. The shape, and
 * whether to encrypt, are judged after the proof: only then they are known to be a member's and
 * worth giving up for. */
static enum wire_verdict judge(const struct handshake_identity *identity,
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

static int answer_hello(struct handshake *handshake, struct err *err)
{
    struct wire_welcome *welcome = &handshake->welcome;
    *welcome = (struct wire_welcome){.version = WIRE_VERSION,
                                     .verdict = judge(handshake->identity, &handshake->hello),
                                     .shape = handshake->identity->shape};
    rand_secure(welcome->nonce, sizeof(welcome->nonce));
    uint8_t answer[WIRE_WELCOME_SIZE];
    if (welcome->verdict != WIRE_ACCEPTED) {
        /* So few bytes fit a fresh connection's buffer; a stranger is not worth waiting for. */
        wire_welcome_encode(welcome, answer);
        (void)socket_send(handshake->link.fd, answer, sizeof(answer));
        return refuse(handshake, welcome->verdict, err);
    }
    sign_welcome(handshake, welcome);
    wire_welcome_encode(welcome, answer);
    buf_append(&handshake->out, answer, sizeof(answer));
    handshake->state = HANDSHAKE_READ_PROOF;
    return 0;
}

static int on_hello(struct handshake *handshake, const uint8_t *bytes, size_t size, struct err *err)
{
    int result = wire_hello_decode(bytes, size, &handshake->hello, err);
    if (result < 0)
        return result;
    bool ours = handshake->hello.version == WIRE_VERSION;
    if (ours)
        memcpy(handshake->hello_bytes, bytes, sizeof(handshake->hello_bytes));
    if (ours && handshake->hello.generation != handshake->identity->generation) {
        handshake->state = HANDSHAKE_EARLY;
        return 0;
    }
    return answer_hello(handshake, err);
}

static int on_welcome(struct handshake *handshake, const uint8_t *bytes, size_t size,
                      struct err *err)
{
    struct wire_welcome *welcome = &handshake->welcome;
    int result = wire_welcome_decode(bytes, size, welcome, err);
    if (result < 0)
        return result;
    if (welcome->verdict != WIRE_ACCEPTED)
        return refused_by_peer(handshake, welcome->verdict, err);
    struct wire_welcome expected = *welcome;
    sign_welcome(handshake, &expected);
    uint8_t mac[SECRET_MAC_SIZE], proof[WIRE_PROOF_SIZE];
    connector_proof(handshake, mac);
    wire_proof_encode(mac, proof);
    if (!secret_mac_equal(expected.mac, welcome->mac)) {
        /* Our proof cannot convince it either, but tells it why this connection ends. */
        (void)socket_send(handshake->link.fd, proof, sizeof(proof));
        return refuse(handshake, WIRE_WRONG_SECRET, err);
    }
    buf_append(&handshake->out, proof, sizeof(proof));
    if (welcome->shape != handshake->identity->shape)
        send_terms(handshake);
    handshake->state = HANDSHAKE_READ_VERDICT;
    return 0;
}

static int on_proof(struct handshake *handshake, const uint8_t *bytes, size_t size, struct err *err)
{
    uint8_t mac[SECRET_MAC_SIZE], expected[SECRET_MAC_SIZE];
    int result = wire_proof_decode(bytes, size, mac, err);
    if (result < 0)
        return result;
    connector_proof(handshake, expected);
    if (!secret_mac_equal(expected, mac)) {
        handshake_decide(handshake, WIRE_WRONG_SECRET, NULL, 0);
        (void)socket_send(handshake->link.fd, handshake->out.data, handshake->out.size);
        return refuse(handshake, WIRE_WRONG_SECRET, err);
    }
    bool same = handshake->hello.shape == handshake->identity->shape;
    handshake->state = same ? HANDSHAKE_PROVEN : HANDSHAKE_READ_TERMS;
    return 0;
}

/* Both have proved themselves and agreed. Where they encrypt, the bytes that follow are of TLS,
 * under a key that comes from the secret and from all that was said before: no other two
 * connections have the same one. */
static int accepted(struct handshake *handshake, bool connector, struct err *err)
{
    static const char LABEL[] = "trainyard comm link";
    const struct handshake_identity *identity = handshake->identity;
    if (!identity->encryption) {
        handshake->state = HANDSHAKE_DONE;
        return 0;
    }
    uint8_t welcome[WIRE_WELCOME_SIZE], key[TLS_KEY_SIZE];
    uint8_t said[sizeof(LABEL) + sizeof(handshake->hello_bytes) + sizeof(welcome)];
    wire_welcome_encode(&handshake->welcome, welcome);
    uint8_t *at = mempcpy(said, LABEL, sizeof(LABEL));
    at = mempcpy(at, handshake->hello_bytes, sizeof(handshake->hello_bytes));
    memcpy(at, welcome, sizeof(welcome));
    int result = tls_hkdf(identity->secret, identity->secret_size, identity->job,
                          sizeof(identity->job), said, sizeof(said), key, err);
    if (result < 0)
        return result;
    handshake->link.tls = tls_stream_new(identity->encryption, handshake->link.fd, connector, key);
    explicit_bzero(key, sizeof(key));
    handshake->state = HANDSHAKE_SECURING;
    return 0;
}

static int on_terms(struct handshake *handshake, const uint8_t *bytes, size_t size, struct err *err)
{
    int result = wire_terms_decode(bytes, size, &handshake->theirs, err);
    if (result == 0)
        handshake->state = HANDSHAKE_PROVEN;
    return result;
}

static int on_reason(struct handshake *handshake, const uint8_t *bytes, size_t size,
                     struct err *err)
{
    char why[HANDSHAKE_REASON_MAX];
    int result = wire_terms_decode(bytes, size, &handshake->theirs, err);
    if (result < 0)
        return result;
    handshake->verdict = WIRE_OTHER_SHAPE;
    handshake->refused = true;
    handshake_other_shape(handshake, why);
    return err_set(err, ERR_FORBIDDEN, "it refused this task: %s", why);
}

static int on_verdict(struct handshake *handshake, const uint8_t *bytes, size_t size,
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
        return refused_by_peer(handshake, verdict, err);
    return accepted(handshake, true, err);
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
        send_terms(handshake);
    handshake->verdict = verdict;
    handshake->state = HANDSHAKE_WRITE_VERDICT;
}

static int broken(struct handshake *handshake, int errnum, struct err *err)
{
    handshake->errnum = errnum;
    return err_set(err, ERR_UNAVAILABLE, "%s", socket_reason(errnum));
}

/* Read up to `wanted` bytes in all, never more: what follows the handshake is not ours to read. */
static int fill(struct handshake *handshake, size_t wanted, struct err *err)
{
    while (handshake->in.size < wanted) {
        size_t missing = wanted - handshake->in.size;
        char *room = buf_reserve(&handshake->in, missing);
        ssize_t got = room ? socket_recv(handshake->link.fd, room, missing) : -EMSGSIZE;
        if (got == -EAGAIN)
            return 0;
        if (got < 0)
            return broken(handshake, (int)-got, err);
        buf_commit(&handshake->in, (size_t)got);
    }
    return 0;
}

/* One whole message, if it is there; its end is known from its head. */
static int read_message(struct handshake *handshake, bool *ret_whole, size_t *ret_size,
                        struct err *err)
{
    *ret_whole = false;
    int result = fill(handshake, WIRE_HEAD_SIZE, err);
    if (result < 0 || handshake->in.size < WIRE_HEAD_SIZE)
        return result;
    uint16_t version;
    result = wire_head_decode((const uint8_t *)handshake->in.data, &version, ret_size, err);
    if (result < 0 || (result = fill(handshake, *ret_size, err)) < 0)
        return result;
    *ret_whole = handshake->in.size == *ret_size;
    return 0;
}

static int flush(struct handshake *handshake, struct err *err)
{
    while (handshake->out.size) {
        ssize_t sent = socket_send(handshake->link.fd, handshake->out.data, handshake->out.size);
        if (sent == -EAGAIN)
            return 0;
        if (sent < 0)
            return broken(handshake, (int)-sent, err);
        buf_consume(&handshake->out, (size_t)sent);
    }
    return 0;
}

static int finish_connecting(struct handshake *handshake, struct err *err)
{
    struct pollfd ready = {.fd = handshake->link.fd, .events = POLLOUT};
    if (poll(&ready, 1, 0) <= 0)
        return 0;
    int errnum = socket_error(handshake->link.fd);
    if (errnum)
        return broken(handshake, errnum, err);
    buf_append(&handshake->out, handshake->hello_bytes, sizeof(handshake->hello_bytes));
    handshake->state = HANDSHAKE_READ_WELCOME;
    return 0;
}

/* The last word of the acceptor is out. */
static int end_of_verdict(struct handshake *handshake, struct err *err)
{
    if (handshake->verdict == WIRE_ACCEPTED)
        return accepted(handshake, false, err);
    handshake->state = HANDSHAKE_DONE;
    return 0;
}

static int secure(struct handshake *handshake, struct err *err)
{
    int result = tls_stream_shake(handshake->link.tls);
    if (result == -EAGAIN)
        return 0;
    if (result < 0)
        return broken(handshake, -result, err);
    handshake->state = HANDSHAKE_DONE;
    return 0;
}

int handshake_progress(struct handshake *handshake, struct err *err)
{
    static int (*const ON_MESSAGE[])(struct handshake *, const uint8_t *, size_t, struct err *) = {
        [HANDSHAKE_READ_HELLO] = on_hello,
        [HANDSHAKE_READ_WELCOME] = on_welcome,
        [HANDSHAKE_READ_PROOF] = on_proof,
        [HANDSHAKE_READ_TERMS] = on_terms,
        [HANDSHAKE_READ_VERDICT] = on_verdict,
        [HANDSHAKE_READ_REASON] = on_reason,
        [HANDSHAKE_DONE] = NULL,
    };
    int result = 0;
    if (handshake->state == HANDSHAKE_CONNECTING)
        result = finish_connecting(handshake, err);
    if (handshake->state == HANDSHAKE_EARLY &&
        handshake->hello.generation == handshake->identity->generation)
        result = answer_hello(handshake, err);
    for (;;) {
        if (result < 0 || (result = flush(handshake, err)) < 0)
            return result;
        if (handshake->state == HANDSHAKE_WRITE_VERDICT && !handshake->out.size &&
            (result = end_of_verdict(handshake, err)) < 0)
            return result;
        if (handshake->state == HANDSHAKE_SECURING)
            return secure(handshake, err);
        bool whole = false;
        size_t size = 0;
        if (!ON_MESSAGE[handshake->state] ||
            (result = read_message(handshake, &whole, &size, err)) < 0 || !whole)
            return result;
        result =
            ON_MESSAGE[handshake->state](handshake, (const uint8_t *)handshake->in.data, size, err);
        buf_clear(&handshake->in);
    }
}
