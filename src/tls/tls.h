/* Certificates, hashes and TLS, implemented with OpenSSL. Called by net, node, comm and cli. The
 * sessions of a server read and write memory, and net/ transfers these bytes. The encrypted
 * connections of comm/ read and write through functions that comm/ passes. Only
 * tls_client_exchange() reads and writes a socket directly; no function opens one. */
#ifndef TRAINYARD_TLS_TLS_H
#define TRAINYARD_TLS_TLS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A certificate and its private key as PEM texts, allocated with malloc(). The caller releases a
 * pair with tls_pair_release(). */
struct tls_pair {
    char *cert_pem;
    char *key_pem;
};
/* Frees both texts, wipes the key and sets the fields to NULL. Safe on zeroed memory. */
void tls_pair_release(struct tls_pair *pair);

/* Returns 0 if both texts can be parsed and the key belongs to the certificate, else a negative
 * error. A key with a password is an error. */
int tls_pair_check(const struct tls_pair *pair, struct err *err);

/* Creates a P-256 key and a certificate authority with this key. The authority is valid for `days`
 * days (1 to 36500). Stores both in *ret, which need not be initialized. */
int tls_make_ca(const char *common_name, int days, struct tls_pair *ret, struct err *err);

/* Creates a P-256 key and a certificate for it, signed by `ca`. `hosts` is a NULL-terminated array
 * of DNS names and IP addresses. With hosts the certificate is for a server. Without hosts, or if
 * `hosts` is NULL, it is for a client. Stores both in *ret like tls_make_ca(). */
int tls_make_cert(const struct tls_pair *ca, const char *common_name, const char *const *hosts,
                  int days, struct tls_pair *ret, struct err *err);

/* Sets *ret to true if the certificate names all of `hosts`, else to false. Does not check the
 * dates of the certificate. `hosts` is a NULL-terminated array of DNS names and IP addresses. Fails
 * if the certificate cannot be parsed. */
int tls_cert_names_all(const char *cert_pem, const char *const *hosts, bool *ret, struct err *err);

/* Computes the HMAC-SHA256 of the data. The key must have at most INT_MAX bytes. */
enum { TLS_HMAC_SIZE = 32 };
int tls_hmac(const void *key, size_t key_size, const void *data, size_t size,
             unsigned char ret[TLS_HMAC_SIZE], struct err *err);

/* Computes SHA-1. Only for protocols that require it, because SHA-1 is not secure against
 * collisions. */
enum { TLS_SHA1_SIZE = 20 };
int tls_sha1(const void *data, size_t size, unsigned char ret[TLS_SHA1_SIZE], struct err *err);

/* Computes the SHA-256 of data that is added piece by piece, for the digests of image layers. The
 * caller frees the object with tls_sha256_free(). */
enum { TLS_SHA256_TEXT = 64 + 1 };
struct tls_sha256;
struct tls_sha256 *tls_sha256_new(void);
void tls_sha256_add(struct tls_sha256 *sum, const void *data, size_t size);
/* Writes the digest in lower-case hexadecimal. Afterwards the object can only be freed. */
void tls_sha256_end(struct tls_sha256 *sum, char ret[TLS_SHA256_TEXT]);
struct tls_sha256 *tls_sha256_free(struct tls_sha256 *sum); /* NULL-safe */
DEFINE_CLEANUP(tls_sha256)

/* Derives a key from a secret with HKDF-SHA256. Different `salt` or `info` gives another key. */
enum { TLS_KEY_SIZE = 32 };
int tls_hkdf(const void *secret, size_t secret_size, const void *salt, size_t salt_size,
             const void *info, size_t info_size, unsigned char ret[TLS_KEY_SIZE], struct err *err);

/* The certificate, key and settings that the sessions of a server share. `cert_pem` has the
 * certificate of the server, optionally followed by the chain to the authority. The caller frees
 * *ret with tls_server_free(), which is NULL-safe and returns NULL. */
struct tls_server;
int tls_server_new(const char *cert_pem, const char *key_pem, struct tls_server **ret,
                   struct err *err);
struct tls_server *tls_server_free(struct tls_server *server);

/* The server's side of one TLS connection, without a socket. The caller passes the encrypted bytes
 * that the peer sent to tls_feed(), which returns 0, or -ERR_TOO_LARGE if more than 256 KiB would
 * wait to be decrypted by tls_read(). tls_read() returns decrypted bytes; tls_write() encrypts
 * bytes. Both return a number of bytes or a negative error. 0 means that `size` is 0, that they
 * need more encrypted bytes from the peer first, or that the peer has closed the session
 * (tls_peer_closed()). After tls_read(), tls_write() and tls_shutdown(), also if they failed, the
 * caller calls tls_drain() until it returns 0, and sends the encrypted bytes that it returns to the
 * peer. */
struct tls_session;
struct tls_session *tls_session_new(struct tls_server *server);
/* NULL-safe; returns NULL. */
struct tls_session *tls_session_free(struct tls_session *session);
int tls_feed(struct tls_session *session, const void *data, size_t size, struct err *err);
long tls_read(struct tls_session *session, void *data, size_t size, struct err *err);
long tls_write(struct tls_session *session, const void *data, size_t size, struct err *err);
long tls_drain(struct tls_session *session, void *data, size_t size);
bool tls_handshake_done(const struct tls_session *session);
bool tls_peer_closed(const struct tls_session *session);
/* Queues close_notify for tls_drain(). Does nothing before the end of the handshake or after a
 * failure. */
void tls_shutdown(struct tls_session *session);

/* Runs a TLS client on the connected socket `fd` and accepts any certificate of the server. Sends
 * the request, which is the result of one read() of at most 32 KiB from `in`. Writes the response
 * to `out` until the server ends the connection, or until a write to `out` fails. Blocks. Returns 0
 * if the request was sent, even if the response is incomplete. */
int tls_client_exchange(int fd, const char *host, int in, int out, struct err *err);

/* The functions that the owner of encrypted connections provides. They receive and send on a
 * descriptor without blocking. They return the number of bytes or a negative errno: -EAGAIN if no
 * byte can be transferred now, -ENOTCONN at the end of the connection. */
struct tls_stream_io {
    ssize_t (*recv)(int fd, void *data, size_t size);
    ssize_t (*send)(int fd, const void *data, size_t size);
};

/* The settings that the streams of a process share, and the functions for their descriptors. The
 * context must outlive the streams. The caller frees *ret with tls_stream_context_free(), which is
 * NULL-safe and returns NULL. */
struct tls_stream_context;
int tls_stream_context_new(const struct tls_stream_io *io, struct tls_stream_context **ret,
                           struct err *err);
struct tls_stream_context *tls_stream_context_free(struct tls_stream_context *context);
/* For tests: sets the number of records that are sent before the key is updated. */
void tls_stream_context_set_rekey_limit(struct tls_stream_context *context, uint64_t records);

/* An encrypted connection between two processes that share a secret key: TLS 1.3 with `key` as
 * external pre-shared key and an ephemeral key exchange, without certificates. The owner keeps and
 * closes the descriptor. The owner calls tls_stream_handshake() until it returns 0; then it sends
 * and receives. tls_stream_recv() and tls_stream_send() return the number of bytes. On failure, all
 * three functions return a negative errno like the functions of tls_stream_io, or -EBADMSG if TLS
 * failed: usually the peer does not have the key, or the bytes were modified. The owner may poll
 * the descriptor only after -EAGAIN. It must repeat a send that returned -EAGAIN with the same
 * bytes; more bytes may follow them. */
struct tls_stream;
struct tls_stream *tls_stream_new(const struct tls_stream_context *context, int fd, bool client,
                                  const unsigned char key[TLS_KEY_SIZE]);
/* NULL-safe; returns NULL. */
struct tls_stream *tls_stream_free(struct tls_stream *stream);
int tls_stream_handshake(struct tls_stream *stream);
/* Must be called only after -EAGAIN. Returns true if the stream waits to send, or false if it waits
 * to receive. */
bool tls_stream_wants_to_send(const struct tls_stream *stream);
ssize_t tls_stream_recv(struct tls_stream *stream, void *data, size_t size);
ssize_t tls_stream_send(struct tls_stream *stream, const void *data, size_t size);
/* Returns the name of the cipher of the session. For tests. */
const char *tls_stream_cipher(const struct tls_stream *stream);

#endif
