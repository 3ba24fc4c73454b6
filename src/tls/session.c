/* Implements the TLS sessions of a server, which read and write memory; see tls.h. net/ has one
 * session per connection. This file uses no sockets and never blocks. */
#include "tls/tls.h"

#include "base/mem.h"
#include "tls/openssl_err.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdlib.h>

/* Maximum number of encrypted bytes that wait to be decrypted: 16 records. A caller that exceeds it
 * reads from the network faster than it calls tls_read(). */
enum { FEED_MAX = 256 * 1024 };

struct tls_server {
    SSL_CTX *context;
};

struct tls_session {
    SSL *ssl;
    BIO *in, *out; /* owned by ssl */
    bool broken;   /* a fatal error occurred: no more data may be read or written with `ssl` */
};

static int select_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_size,
                           const unsigned char *offered, unsigned offered_size, void *context)
{
    static const unsigned char ours[] = "\x08http/1.1";
    /* If client and server have no common protocol, the handshake fails (RFC 7301). Continuing with
     * a protocol that the client did not offer would allow cross-protocol attacks. */
    if (SSL_select_next_proto((unsigned char **)ret, ret_size, ours, sizeof(ours) - 1, offered,
                              offered_size) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    return SSL_TLSEXT_ERR_OK;
}

/* Loads the certificates in a PEM text. The first certificate belongs to the server. The others are
 * the chain to the certificate authority. */
static int server_use_certificates(SSL_CTX *context, const char *pem, struct err *err)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    bool ok = cert && SSL_CTX_use_certificate(context, cert);
    X509_free(cert);
    while (ok && (cert = PEM_read_bio_X509(bio, NULL, NULL, NULL)))
        ok = SSL_CTX_add0_chain_cert(context, cert);
    BIO_free(bio);
    if (!ok)
        return openssl_err_set(err, ERR_BAD_REQUEST, "cannot use the server's certificate");
    ERR_clear_error(); /* at the end of the chain, OpenSSL reports "no start line" */
    return 0;
}

static int server_use_key(SSL_CTX *context, const char *pem, struct err *err)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    bool ok = key && SSL_CTX_use_PrivateKey(context, key) && SSL_CTX_check_private_key(context);
    EVP_PKEY_free(key);
    BIO_free(bio);
    if (!ok)
        return openssl_err_set(err, ERR_BAD_REQUEST, "cannot use the server's key");
    return 0;
}

int tls_server_new(const char *cert_pem, const char *key_pem, struct tls_server **ret,
                   struct err *err)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!context)
        return openssl_err_set(err, ERR_INTERNAL, "cannot set up TLS");
    struct tls_server *server = mem_zalloc(sizeof(*server));
    server->context = context;
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    /* SSL_write() may write a part of the data, and a retry may use another buffer. Idle sessions
     * release their record buffers, which are most of their memory. */
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    /* No session cache: the client stores the session state in a session ticket, so the server
     * needs no memory for it. */
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(context, select_protocol, NULL);
    int result = server_use_certificates(context, cert_pem, err);
    if (result == 0)
        result = server_use_key(context, key_pem, err);
    if (result < 0) {
        tls_server_free(server);
        return result;
    }
    *ret = server;
    return 0;
}

struct tls_server *tls_server_free(struct tls_server *server)
{
    if (server) {
        SSL_CTX_free(server->context);
        free(server);
    }
    return NULL;
}

struct tls_session *tls_session_new(struct tls_server *server)
{
    struct tls_session *session = mem_zalloc(sizeof(*session));
    session->ssl = SSL_new(server->context);
    session->in = BIO_new(BIO_s_mem());
    session->out = BIO_new(BIO_s_mem());
    if (!session->ssl || !session->in || !session->out)
        mem_panic("tls: out of memory");
    SSL_set_bio(session->ssl, session->in, session->out);
    SSL_set_accept_state(session->ssl);
    return session;
}

struct tls_session *tls_session_free(struct tls_session *session)
{
    if (session) {
        SSL_free(session->ssl);
        free(session);
    }
    return NULL;
}

int tls_feed(struct tls_session *session, const void *data, size_t size, struct err *err)
{
    if (size > FEED_MAX || BIO_ctrl_pending(session->in) > FEED_MAX - size)
        return err_set(err, ERR_TOO_LARGE,
                       "tls: more than %d encrypted bytes arrived before they were read", FEED_MAX);
    if (size && BIO_write(session->in, data, (int)size) != (int)size)
        return openssl_err_set(err, ERR_INTERNAL, "tls: cannot buffer encrypted bytes");
    return 0;
}

static int int_of_size(size_t size)
{
    return size > INT_MAX ? INT_MAX : (int)size;
}

/* Returns the meaning of a result of OpenSSL that transferred no byte: 0 if more encrypted bytes
 * are needed or the peer has closed the session, otherwise a negative error. */
static long session_result_error(struct tls_session *session, int result, struct err *err)
{
    switch (SSL_get_error(session->ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        session->broken = true;
        return openssl_err_set(err, ERR_INTERNAL, "tls: %s failed",
                               SSL_is_init_finished(session->ssl) ? "session" : "handshake");
    }
}

long tls_read(struct tls_session *session, void *data, size_t size, struct err *err)
{
    if (session->broken)
        return err_set(err, ERR_INTERNAL, "tls: the session failed earlier");
    ERR_clear_error();
    int result = SSL_read(session->ssl, data, int_of_size(size));
    return result > 0 ? result : session_result_error(session, result, err);
}

long tls_write(struct tls_session *session, const void *data, size_t size, struct err *err)
{
    if (session->broken)
        return err_set(err, ERR_INTERNAL, "tls: the session failed earlier");
    if (size == 0) /* OpenSSL treats a write of no bytes as an error */
        return 0;
    ERR_clear_error();
    int result = SSL_write(session->ssl, data, int_of_size(size));
    return result > 0 ? result : session_result_error(session, result, err);
}

long tls_drain(struct tls_session *session, void *data, size_t size)
{
    int result = BIO_read(session->out, data, int_of_size(size));
    return result > 0 ? result : 0;
}

bool tls_handshake_done(const struct tls_session *session)
{
    return SSL_is_init_finished(session->ssl);
}

bool tls_peer_closed(const struct tls_session *session)
{
    return SSL_get_shutdown(session->ssl) & SSL_RECEIVED_SHUTDOWN;
}

void tls_shutdown(struct tls_session *session)
{
    if (session->broken || !SSL_is_init_finished(session->ssl))
        return;
    ERR_clear_error();
    SSL_shutdown(session->ssl);
    ERR_clear_error();
}
