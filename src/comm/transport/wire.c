/* Encodes and decodes handshake messages and frames; see wire.h. */
#include "comm/transport/wire.h"

#include "base/mem.h"

#include <endian.h>
#include <string.h>

static const uint8_t MAGIC[4] = {'T', 'Y', 'C', 'M'};

/* Each put or get function advances *at past the bytes that it writes or reads. */
static void wire_put16(uint8_t **at, uint16_t value)
{
    value = htole16(value);
    *at = mempcpy(*at, &value, sizeof(value));
}

static void wire_put32(uint8_t **at, uint32_t value)
{
    value = htole32(value);
    *at = mempcpy(*at, &value, sizeof(value));
}

static void wire_put64(uint8_t **at, uint64_t value)
{
    value = htole64(value);
    *at = mempcpy(*at, &value, sizeof(value));
}

static void wire_put_bytes(uint8_t **at, const void *data, size_t size)
{
    *at = mempcpy(*at, data, size);
}

static uint16_t wire_get16(const uint8_t **at)
{
    uint16_t value;
    memcpy(&value, *at, sizeof(value));
    *at += sizeof(value);
    return le16toh(value);
}

static uint32_t wire_get32(const uint8_t **at)
{
    uint32_t value;
    memcpy(&value, *at, sizeof(value));
    *at += sizeof(value);
    return le32toh(value);
}

static uint64_t wire_get64(const uint8_t **at)
{
    uint64_t value;
    memcpy(&value, *at, sizeof(value));
    *at += sizeof(value);
    return le64toh(value);
}

static void wire_get_bytes(const uint8_t **at, void *data, size_t size)
{
    memcpy(data, *at, size);
    *at += size;
}

/* Writes the head, which all versions of the protocol have, so that a peer can detect another
 * version. After the magic it has 8 bits of version and 24 bits of size. 16 bits of size would be
 * too few: a verdict may contain the addresses of all members of a large group. */
static void wire_put_head(uint8_t **at, size_t size)
{
    wire_put_bytes(at, MAGIC, sizeof(MAGIC));
    wire_put32(at, (uint32_t)size << 8 | WIRE_VERSION);
}

int wire_head_decode(const uint8_t head[WIRE_HEAD_SIZE], uint16_t *ret_version, size_t *ret_size,
                     struct err *err)
{
    if (memcmp(head, MAGIC, sizeof(MAGIC)) != 0)
        return err_set(err, ERR_BAD_REQUEST, "it does not speak trainyard's protocol");
    const uint8_t *at = head + sizeof(MAGIC);
    uint32_t word = wire_get32(&at);
    size_t size = word >> 8;
    if (size < WIRE_HEAD_SIZE || size > WIRE_MESSAGE_MAX)
        return err_set(err, ERR_BAD_REQUEST,
                       "it announces a message of %zu bytes, which is not a valid size", size);
    *ret_version = word & 0xff;
    *ret_size = size;
    return 0;
}

/* Checks the head and moves *at past it. `expected` is the size of the message in this version.
 * `what` is the name of the message, for errors. */
static int wire_check_head(const uint8_t **at, size_t size, size_t expected, const char *what,
                           struct err *err)
{
    if (size != expected)
        return err_set(err, ERR_BAD_REQUEST, "its %s has %zu bytes instead of %zu", what, size,
                       expected);
    uint16_t version = 0;
    size_t announced = 0;
    int result = wire_head_decode(*at, &version, &announced, err);
    if (result < 0)
        return result;
    if (announced != size)
        return err_set(err, ERR_BAD_REQUEST, "its %s is truncated", what);
    *at += WIRE_HEAD_SIZE;
    return 0;
}

void wire_hello_encode(const struct wire_hello *hello, uint8_t bytes[WIRE_HELLO_SIZE])
{
    wire_put_head(&bytes, WIRE_HELLO_SIZE);
    wire_put16(&bytes, hello->channel);
    wire_put16(&bytes, hello->channels);
    wire_put16(&bytes, hello->listen_port);
    wire_put16(&bytes, hello->encrypts);
    wire_put32(&bytes, hello->rank);
    wire_put32(&bytes, hello->target);
    wire_put32(&bytes, hello->size);
    wire_put32(&bytes, 0);
    wire_put64(&bytes, hello->generation);
    wire_put64(&bytes, hello->shape);
    wire_put_bytes(&bytes, hello->job, sizeof(hello->job));
    wire_put_bytes(&bytes, hello->nonce, sizeof(hello->nonce));
}

int wire_hello_decode(const uint8_t *bytes, size_t size, struct wire_hello *ret, struct err *err)
{
    size_t announced;
    struct wire_hello hello = {0};
    if (size < WIRE_HEAD_SIZE)
        return err_set(err, ERR_BAD_REQUEST, "its hello is truncated");
    int result = wire_head_decode(bytes, &hello.version, &announced, err);
    if (result < 0)
        return result;
    if (hello.version != WIRE_VERSION) {
        *ret = hello;
        return 0;
    }
    result = wire_check_head(&bytes, size, WIRE_HELLO_SIZE, "hello", err);
    if (result < 0)
        return result;
    hello.channel = wire_get16(&bytes);
    hello.channels = wire_get16(&bytes);
    hello.listen_port = wire_get16(&bytes);
    hello.encrypts = wire_get16(&bytes);
    hello.rank = wire_get32(&bytes);
    hello.target = wire_get32(&bytes);
    hello.size = wire_get32(&bytes);
    wire_get32(&bytes);
    hello.generation = wire_get64(&bytes);
    hello.shape = wire_get64(&bytes);
    wire_get_bytes(&bytes, hello.job, sizeof(hello.job));
    wire_get_bytes(&bytes, hello.nonce, sizeof(hello.nonce));
    if (hello.channel > hello.channels + 1 || hello.rank >= hello.size ||
        hello.target >= hello.size || hello.rank == hello.target)
        return err_set(err, ERR_BAD_REQUEST, "its hello is inconsistent");
    *ret = hello;
    return 0;
}

void wire_welcome_encode(const struct wire_welcome *welcome, uint8_t bytes[WIRE_WELCOME_SIZE])
{
    wire_put_head(&bytes, WIRE_WELCOME_SIZE);
    wire_put32(&bytes, welcome->verdict);
    wire_put32(&bytes, 0);
    wire_put64(&bytes, welcome->shape);
    wire_put_bytes(&bytes, welcome->nonce, sizeof(welcome->nonce));
    wire_put_bytes(&bytes, welcome->mac, sizeof(welcome->mac));
}

static int wire_get_verdict(const uint8_t **at, enum wire_verdict *ret, struct err *err)
{
    uint32_t verdict = wire_get32(at);
    if (verdict >= WIRE_VERDICTS)
        return err_set(err, ERR_BAD_REQUEST, "it answers with the unknown verdict %u", verdict);
    *ret = (enum wire_verdict)verdict;
    return 0;
}

int wire_welcome_decode(const uint8_t *bytes, size_t size, struct wire_welcome *ret,
                        struct err *err)
{
    size_t announced;
    struct wire_welcome welcome = {0};
    if (size < WIRE_HEAD_SIZE)
        return err_set(err, ERR_BAD_REQUEST, "its answer is truncated");
    int result = wire_head_decode(bytes, &welcome.version, &announced, err);
    if (result < 0)
        return result;
    if (welcome.version != WIRE_VERSION) {
        welcome.verdict = WIRE_OTHER_VERSION;
        *ret = welcome;
        return 0;
    }
    if ((result = wire_check_head(&bytes, size, WIRE_WELCOME_SIZE, "answer", err)) < 0 ||
        (result = wire_get_verdict(&bytes, &welcome.verdict, err)) < 0)
        return result;
    wire_get32(&bytes);
    welcome.shape = wire_get64(&bytes);
    wire_get_bytes(&bytes, welcome.nonce, sizeof(welcome.nonce));
    wire_get_bytes(&bytes, welcome.mac, sizeof(welcome.mac));
    *ret = welcome;
    return 0;
}

void wire_proof_encode(const uint8_t mac[SECRET_MAC_SIZE], uint8_t bytes[WIRE_PROOF_SIZE])
{
    wire_put_head(&bytes, WIRE_PROOF_SIZE);
    wire_put_bytes(&bytes, mac, SECRET_MAC_SIZE);
}

int wire_proof_decode(const uint8_t *bytes, size_t size, uint8_t ret_mac[SECRET_MAC_SIZE],
                      struct err *err)
{
    int result = wire_check_head(&bytes, size, WIRE_PROOF_SIZE, "proof", err);
    if (result == 0)
        wire_get_bytes(&bytes, ret_mac, SECRET_MAC_SIZE);
    return result;
}

void wire_verdict_encode(enum wire_verdict verdict, const struct wire_address *addresses,
                         size_t count, uint8_t *bytes)
{
    wire_put_head(&bytes, WIRE_VERDICT_SIZE + count * WIRE_ADDRESS_SIZE);
    wire_put32(&bytes, verdict);
    wire_put32(&bytes, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        wire_put_bytes(&bytes, addresses[i].ip, sizeof(addresses[i].ip));
        wire_put16(&bytes, addresses[i].port);
    }
}

int wire_verdict_decode(const uint8_t *bytes, size_t size, size_t capacity,
                        enum wire_verdict *ret_verdict, struct wire_address *ret_addresses,
                        size_t *ret_count, struct err *err)
{
    size_t expected = size < WIRE_VERDICT_SIZE ? WIRE_VERDICT_SIZE : size;
    enum wire_verdict verdict = WIRE_ACCEPTED;
    int result = wire_check_head(&bytes, size, expected, "verdict", err);
    if (result < 0 || (result = wire_get_verdict(&bytes, &verdict, err)) < 0)
        return result;
    size_t count = wire_get32(&bytes);
    if (count > capacity)
        return err_set(err, ERR_BAD_REQUEST, "its verdict has %zu addresses, but the limit is %zu",
                       count, capacity);
    if (size != WIRE_VERDICT_SIZE + count * WIRE_ADDRESS_SIZE)
        return err_set(err, ERR_BAD_REQUEST,
                       "its verdict has %zu bytes, which do not fit %zu addresses", size, count);
    for (size_t i = 0; i < count; i++) {
        wire_get_bytes(&bytes, ret_addresses[i].ip, sizeof(ret_addresses[i].ip));
        ret_addresses[i].port = wire_get16(&bytes);
    }
    *ret_verdict = verdict;
    *ret_count = count;
    return 0;
}

size_t wire_shape_text_encode(const char *shape_text, uint8_t *bytes)
{
    size_t size = strnlen(shape_text, WIRE_SHAPE_TEXT_MAX);
    wire_put_head(&bytes, WIRE_HEAD_SIZE + size);
    wire_put_bytes(&bytes, shape_text, size);
    return WIRE_HEAD_SIZE + size;
}

int wire_shape_text_decode(const uint8_t *bytes, size_t size, char **ret, struct err *err)
{
    if (size < WIRE_HEAD_SIZE || size > WIRE_HEAD_SIZE + WIRE_SHAPE_TEXT_MAX)
        return err_set(err, ERR_BAD_REQUEST,
                       "its list of options has %zu bytes, which is not a valid size", size);
    int result = wire_check_head(&bytes, size, size, "list of options", err);
    if (result < 0)
        return result;
    char *text = mem_strndup((const char *)bytes, size - WIRE_HEAD_SIZE);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' && *at != '\n')
            *at = '?';
    *ret = text;
    return 0;
}

void wire_frame_encode(const struct wire_frame *frame, uint8_t bytes[WIRE_FRAME_HEAD_SIZE])
{
    wire_put32(&bytes, frame->type);
    wire_put32(&bytes, frame->size);
    wire_put64(&bytes, frame->sequence);
    wire_put64(&bytes, frame->detail);
}

int wire_frame_decode(const uint8_t bytes[WIRE_FRAME_HEAD_SIZE], struct wire_frame *ret,
                      struct err *err)
{
    uint32_t type = wire_get32(&bytes), size = wire_get32(&bytes);
    uint64_t sequence = wire_get64(&bytes), detail = wire_get64(&bytes);
    if (type == 0 || type >= WIRE_FRAME_TYPES || size > WIRE_FRAME_MAX)
        return err_set(err, ERR_INTERNAL, "it sent an invalid frame: type %u, %u bytes", type,
                       size);
    *ret = (struct wire_frame){
        .type = (enum wire_frame_type)type, .size = size, .sequence = sequence, .detail = detail};
    return 0;
}
