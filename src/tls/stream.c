/* Implements encrypted connections between two processes that share a key; see tls.h. comm/ has one
 * stream per connection. This file reads and writes the descriptor only through the functions of
 * its owner, and never blocks. */
#include "tls/tls.h"

#include "base/buf.h"
#include "base/mem.h"
#include "tls/openssl_err.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORD_MAX = 16384, /* maximum number of plaintext bytes in a record */
    /* `out` is sent when it has this many bytes, or earlier if all data is encrypted. */
    BATCH_MAX = 16 * RECORD_MAX,
    READ_AHEAD = 64 * 1024, /* maximum number of bytes that OpenSSL reads at once */
    /* Number of records before the key is updated. AES-GCM is safe for 2^24.5 records under one key
     * (RFC 8446, 5.5). */
    RECORDS_MAX = 1 << 23,
};

struct tls_stream_context {
    SSL_CTX *ssl_context;
    BIO_METHOD *method;
    struct tls_stream_io io;
    uint64_t records_max; /* number of records that are sent before the key is updated */
};

struct tls_stream {
    const struct tls_stream_context *context;
    SSL *ssl;
    int fd;
    int errnum;                      /* the errno with which the connection failed, or 0 */
    unsigned char key[TLS_KEY_SIZE]; /* wiped after the handshake */
    struct buf out;                  /* encrypted bytes to send */
    size_t out_at;                   /* number of bytes of `out` that are already sent */
    /* Number of plaintext bytes that are encrypted in `out`, and that tls_stream_send() has not
     * reported as sent yet. */
    size_t accepted;
    uint64_t records; /* number of records sent under the current key */
};

/* ---- I/O of OpenSSL -------------------------------------------------------------------------- */

static int bio_read(BIO *bio, char *data, int size)
{
    struct tls_stream *stream = BIO_get_data(bio);
    ssize_t got = stream->context->io.recv(stream->fd, data, (size_t)size);
    BIO_clear_retry_flags(bio);
    if (got > 0)
        return (int)got;
    if (got == -EAGAIN)
        BIO_set_retry_read(bio);
    else
        stream->errnum = (int)-got;
    return -1;
}

/* Appends a record to `out`. Several records are sent at once, because a system call per record
 * costs more than the encryption. */
static int bio_write(BIO *bio, const char *data, int size)
{
    struct tls_stream *stream = BIO_get_data(bio);
    buf_append(&stream->out, data, (size_t)size);
    if (stream->out.overflowed)
        mem_panic("tls: more encrypted bytes than there is room for");
    return size;
}

static long bio_ctrl(BIO *bio, int command, long number, void *pointer)
{
    return command == BIO_CTRL_FLUSH;
}

/* ---- the pre-shared key ---------------------------------------------------------------------- */

static const unsigned char IDENTITY[] = "trainyard";

static SSL_SESSION *psk_session_new(SSL *ssl)
{
    /* For a pre-shared key, TLS 1.3 uses only the hash of this cipher. */
    static const unsigned char AES_128_GCM_SHA256[] = {0x13, 0x01};
    const struct tls_stream *stream = SSL_get_app_data(ssl);
    const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, AES_128_GCM_SHA256);
    SSL_SESSION *session = SSL_SESSION_new();
    if (!cipher || !session || !SSL_SESSION_set_cipher(session, cipher) ||
        !SSL_SESSION_set1_master_key(session, stream->key, sizeof(stream->key)) ||
        !SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION)) {
        SSL_SESSION_free(session);
        return NULL;
    }
    return session;
}

static int psk_offer_key(SSL *ssl, const EVP_MD *hash, const unsigned char **ret_identity,
                         size_t *ret_size, SSL_SESSION **ret)
{
    *ret = psk_session_new(ssl);
    *ret_identity = IDENTITY;
    *ret_size = sizeof(IDENTITY) - 1;
    return *ret != NULL;
}

static int psk_find_key(SSL *ssl, const unsigned char *identity, size_t size, SSL_SESSION **ret)
{
    bool known = size == sizeof(IDENTITY) - 1 && memcmp(identity, IDENTITY, size) == 0;
    *ret = known ? psk_session_new(ssl) : NULL;
    return 1;
}

/* ---- struct tls_stream_context --------------------------------------------------------------- */

int tls_stream_context_new(const struct tls_stream_io *io, struct tls_stream_context **ret,
                           struct err *err)
{
    struct tls_stream_context *context = mem_zalloc(sizeof(*context));
    context->io = *io;
    context->records_max = RECORDS_MAX;
    context->ssl_context = SSL_CTX_new(TLS_method());
    context->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "trainyard link");
    if (!context->ssl_context || !context->method ||
        !SSL_CTX_set_min_proto_version(context->ssl_context, TLS1_3_VERSION) ||
        !SSL_CTX_set_ciphersuites(context->ssl_context,
                                  "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") ||
        !SSL_CTX_set_num_tickets(context->ssl_context, 0)) {
        tls_stream_context_free(context);
        return openssl_err_set(err, ERR_INTERNAL, "cannot set up TLS");
    }
    BIO_meth_set_read(context->method, bio_read);
    BIO_meth_set_write(context->method, bio_write);
    BIO_meth_set_ctrl(context->method, bio_ctrl);
    SSL_CTX_set_mode(context->ssl_context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                               SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                               SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context->ssl_context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_default_read_buffer_len(context->ssl_context, READ_AHEAD);
    SSL_CTX_set_psk_use_session_callback(context->ssl_context, psk_offer_key);
    SSL_CTX_set_psk_find_session_callback(context->ssl_context, psk_find_key);
    *ret = context;
    return 0;
}

struct tls_stream_context *tls_stream_context_free(struct tls_stream_context *context)
{
    if (!context)
        return NULL;
    SSL_CTX_free(context->ssl_context);
    BIO_meth_free(context->method);
    free(context);
    return NULL;
}

void tls_stream_context_set_rekey_limit(struct tls_stream_context *context, uint64_t records)
{
    context->records_max = records;
}

/* ---- struct tls_stream ----------------------------------------------------------------------- */

struct tls_stream *tls_stream_new(const struct tls_stream_context *context, int fd, bool client,
                                  const unsigned char key[TLS_KEY_SIZE])
{
    struct tls_stream *stream = mem_zalloc(sizeof(*stream));
    BIO *bio = BIO_new(context->method);
    stream->context = context;
    stream->fd = fd;
    stream->ssl = SSL_new(context->ssl_context);
    if (!stream->ssl || !bio)
        mem_panic("tls: out of memory");
    memcpy(stream->key, key, sizeof(stream->key));
    buf_init(&stream->out, 2 * BATCH_MAX);
    BIO_set_data(bio, stream);
    BIO_set_init(bio, 1);
    SSL_set_bio(stream->ssl, bio, bio);
    SSL_set_app_data(stream->ssl, stream);
    /* The server has no certificate, and the client accepts no certificate. The shared key is the
     * only authentication. */
    SSL_set_verify(stream->ssl, client ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
    if (client)
        SSL_set_connect_state(stream->ssl);
    else
        SSL_set_accept_state(stream->ssl);
    return stream;
}

struct tls_stream *tls_stream_free(struct tls_stream *stream)
{
    if (!stream)
        return NULL;
    SSL_free(stream->ssl);
    buf_release(&stream->out);
    OPENSSL_cleanse(stream->key, sizeof(stream->key));
    free(stream);
    return NULL;
}

static int stream_flush(struct tls_stream *stream)
{
    while (stream->out_at < stream->out.size) {
        ssize_t sent = stream->context->io.send(stream->fd, stream->out.data + stream->out_at,
                                                stream->out.size - stream->out_at);
        if (sent < 0)
            return (int)sent;
        stream->out_at += (size_t)sent;
    }
    buf_clear(&stream->out);
    stream->out_at = 0;
    return 0;
}

/* Returns the meaning of a result of OpenSSL that transferred no byte: -EAGAIN, or the negative
 * errno with which the connection failed. After a failure, OpenSSL must not be called again. */
static int stream_result_error(struct tls_stream *stream, int result)
{
    switch (SSL_get_error(stream->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        return -EAGAIN;
    case SSL_ERROR_ZERO_RETURN:
        stream->errnum = ENOTCONN;
        break;
    default:
        if (!stream->errnum)
            stream->errnum = EBADMSG;
    }
    ERR_clear_error();
    (void)stream_flush(stream); /* sends the TLS alert, which tells the peer the reason */
    return -stream->errnum;
}

int tls_stream_handshake(struct tls_stream *stream)
{
    if (stream->errnum)
        return -stream->errnum;
    ERR_clear_error();
    int result = SSL_do_handshake(stream->ssl);
    int answer = result == 1 ? 0 : stream_result_error(stream, result);
    int flushed = stream_flush(stream);
    if (answer < 0 && answer != -EAGAIN)
        return answer;
    if (flushed < 0 || answer < 0)
        return flushed < 0 ? flushed : answer;
    /* If the shared key was used, OpenSSL reports a resumed session. */
    if (!SSL_session_reused(stream->ssl)) {
        stream->errnum = EBADMSG;
        return -EBADMSG;
    }
    /* Read-ahead must be off during the handshake. The owner may wait for the descriptor before its
     * first read, and bytes that OpenSSL has already read would not end that wait. */
    SSL_set_read_ahead(stream->ssl, 1);
    OPENSSL_cleanse(stream->key, sizeof(stream->key));
    return 0;
}

bool tls_stream_wants_to_send(const struct tls_stream *stream)
{
    return stream->out_at < stream->out.size;
}

ssize_t tls_stream_recv(struct tls_stream *stream, void *data, size_t size)
{
    size_t got = 0;
    while (got < size && !stream->errnum) {
        ERR_clear_error();
        size_t most = size - got < INT_MAX ? size - got : INT_MAX;
        int result = SSL_read(stream->ssl, (char *)data + got, (int)most);
        if (result <= 0) {
            int answer = stream_result_error(stream, result);
            return got ? (ssize_t)got : answer;
        }
        got += (size_t)result;
    }
    return got ? (ssize_t)got : -stream->errnum;
}

/* Encrypts one record. Updates the key after records_max records. */
static int stream_encrypt(struct tls_stream *stream, const char *data, size_t size)
{
    ERR_clear_error();
    int result = SSL_write(stream->ssl, data, (int)(size < RECORD_MAX ? size : RECORD_MAX));
    if (result <= 0)
        return stream_result_error(stream, result);
    if (++stream->records >= stream->context->records_max) {
        stream->records = 0;
        if (!SSL_key_update(stream->ssl, SSL_KEY_UPDATE_NOT_REQUESTED)) {
            stream->errnum = EBADMSG;
            return -EBADMSG;
        }
    }
    return result;
}

ssize_t tls_stream_send(struct tls_stream *stream, const void *data, size_t size)
{
    if (stream->errnum)
        return -stream->errnum;
    bool retried = stream->accepted > 0;
    while (!retried && stream->accepted < size && stream->out.size < BATCH_MAX) {
        int done =
            stream_encrypt(stream, (const char *)data + stream->accepted, size - stream->accepted);
        if (done < 0)
            return done;
        stream->accepted += (size_t)done;
    }
    int result = stream_flush(stream);
    if (result < 0)
        return result;
    size_t sent = stream->accepted;
    stream->accepted = 0;
    return (ssize_t)sent;
}

const char *tls_stream_cipher(const struct tls_stream *stream)
{
    return SSL_get_cipher_name(stream->ssl);
}
