/* Implements the state machine of a handshake, and reads and writes its bytes; see handshake.h. The
 * messages are handled in handshake_message.c. */
#include "comm/transport/handshake.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/rand.h"
#include "comm/transport/handshake_message.h"
#include "comm/transport/socket.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static void handshake_init(struct handshake *handshake, int fd,
                           const struct handshake_identity *identity, enum handshake_state state)
{
    *handshake = (struct handshake){.state = state, .connection = {.fd = fd}, .identity = identity};
    buf_init(&handshake->in, WIRE_MESSAGE_MAX);
    buf_init(&handshake->out, WIRE_MESSAGE_MAX);
}

void handshake_init_connector(struct handshake *handshake, int fd,
                              const struct handshake_identity *identity, uint32_t target,
                              uint16_t channel)
{
    handshake_init(handshake, fd, identity, HANDSHAKE_CONNECTING);
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
    handshake_init(handshake, fd, identity, HANDSHAKE_READ_HELLO);
}

void handshake_release(struct handshake *handshake)
{
    if (!handshake->identity)
        return;
    connection_close(&handshake->connection);
    free(handshake->addresses);
    free(handshake->peer_shape_text);
    buf_release(&handshake->in);
    buf_release(&handshake->out);
    *handshake = (struct handshake){.connection = CONNECTION_NONE};
}

struct connection handshake_take(struct handshake *handshake)
{
    return connection_take(&handshake->connection);
}

void handshake_set_identity(struct handshake *handshake, const struct handshake_identity *identity)
{
    if (handshake->state == HANDSHAKE_READ_HELLO || handshake->state == HANDSHAKE_EARLY)
        handshake->identity = identity;
}

short handshake_events(const struct handshake *handshake)
{
    if (handshake->state == HANDSHAKE_SECURING)
        return tls_stream_wants_to_send(handshake->connection.tls) ? POLLOUT : POLLIN;
    if (handshake->state == HANDSHAKE_CONNECTING || handshake->out.size)
        return POLLOUT;
    return POLLIN;
}

static int handshake_broken_error(struct handshake *handshake, int errnum, struct err *err)
{
    handshake->errnum = errnum;
    return err_set(err, ERR_UNAVAILABLE, "%s", socket_reason(errnum));
}

/* Reads until `in` has `wanted` bytes, or until no more bytes are available. Never reads more,
 * because the bytes after the handshake belong to the next owner of the connection. */
static int handshake_fill(struct handshake *handshake, size_t wanted, struct err *err)
{
    while (handshake->in.size < wanted) {
        size_t missing = wanted - handshake->in.size;
        char *room = buf_reserve(&handshake->in, missing);
        ssize_t got = room ? socket_recv(handshake->connection.fd, room, missing) : -EMSGSIZE;
        if (got == -EAGAIN)
            return 0;
        if (got < 0)
            return handshake_broken_error(handshake, (int)-got, err);
        buf_commit(&handshake->in, (size_t)got);
    }
    return 0;
}

/* Reads one message. Sets *ret_whole to whether all of it has arrived. The head of a message has
 * its size. */
static int handshake_read_message(struct handshake *handshake, bool *ret_whole, size_t *ret_size,
                                  struct err *err)
{
    *ret_whole = false;
    int result = handshake_fill(handshake, WIRE_HEAD_SIZE, err);
    if (result < 0 || handshake->in.size < WIRE_HEAD_SIZE)
        return result;
    uint16_t version;
    result = wire_head_decode((const uint8_t *)handshake->in.data, &version, ret_size, err);
    if (result < 0 || (result = handshake_fill(handshake, *ret_size, err)) < 0)
        return result;
    *ret_whole = handshake->in.size == *ret_size;
    return 0;
}

static int handshake_flush(struct handshake *handshake, struct err *err)
{
    while (handshake->out.size) {
        ssize_t sent =
            socket_send(handshake->connection.fd, handshake->out.data, handshake->out.size);
        if (sent == -EAGAIN)
            return 0;
        if (sent < 0)
            return handshake_broken_error(handshake, (int)-sent, err);
        buf_consume(&handshake->out, (size_t)sent);
    }
    return 0;
}

static int handshake_finish_connecting(struct handshake *handshake, struct err *err)
{
    struct pollfd ready = {.fd = handshake->connection.fd, .events = POLLOUT};
    if (poll(&ready, 1, 0) <= 0)
        return 0;
    int errnum = socket_error(handshake->connection.fd);
    if (errnum)
        return handshake_broken_error(handshake, errnum, err);
    buf_append(&handshake->out, handshake->hello_bytes, sizeof(handshake->hello_bytes));
    handshake->state = HANDSHAKE_READ_WELCOME;
    return 0;
}

/* Called on the acceptor after its verdict has been sent. */
static int handshake_verdict_sent(struct handshake *handshake, struct err *err)
{
    if (handshake->verdict == WIRE_ACCEPTED)
        return handshake_message_accepted(handshake, false, err);
    handshake->state = HANDSHAKE_DONE;
    return 0;
}

static int handshake_secure(struct handshake *handshake, struct err *err)
{
    int result = tls_stream_handshake(handshake->connection.tls);
    if (result == -EAGAIN)
        return 0;
    if (result < 0)
        return handshake_broken_error(handshake, -result, err);
    handshake->state = HANDSHAKE_DONE;
    return 0;
}

int handshake_progress(struct handshake *handshake, struct err *err)
{
    int result = 0;
    if (handshake->state == HANDSHAKE_CONNECTING)
        result = handshake_finish_connecting(handshake, err);
    if (handshake->state == HANDSHAKE_EARLY &&
        handshake->hello.generation == handshake->identity->generation)
        result = handshake_message_answer_hello(handshake, err);
    for (;;) {
        if (result < 0 || (result = handshake_flush(handshake, err)) < 0)
            return result;
        if (handshake->state == HANDSHAKE_WRITE_VERDICT && !handshake->out.size &&
            (result = handshake_verdict_sent(handshake, err)) < 0)
            return result;
        if (handshake->state == HANDSHAKE_SECURING)
            return handshake_secure(handshake, err);
        bool whole = false;
        size_t size = 0;
        if (!handshake_message_awaited(handshake->state) ||
            (result = handshake_read_message(handshake, &whole, &size, err)) < 0 || !whole)
            return result;
        result =
            handshake_message_handle(handshake, (const uint8_t *)handshake->in.data, size, err);
        buf_clear(&handshake->in);
    }
}
