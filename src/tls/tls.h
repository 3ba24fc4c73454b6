/* Certificates, hashes and TLS, implemented with OpenSSL. No function here opens a socket. The
 * sessions of a server read and write memory, and net/ transfers these bytes. The encrypted
 * connections of comm/ read and write through functions that comm/ passes. */
#ifndef TRAINYARD_TLS_TLS_H
#define TRAINYARD_TLS_TLS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A certificate and its private key as PEM texts, malloc'ed. */
struct tls_pair {
    char *cert_pem;
    char *key_pem;
};
void tls_pair_release(struct tls_pair *pair);

/* Returns 0 if both texts can be parsed and the key belongs to the certificate, else a negative
 * error. A key with a password is an error. */
int tls_pair_check(const struct tls_pair *pair, struct err *err);

/* Create a P-256 certificate authority, and a certificate that the authority signs. `hosts` is a
 * NULL-terminated array of DNS names and IP addresses. A certificate with hosts is for a server; a
 * certificate without hosts is for a client. */
int tls_make_ca(const char *common_name, int days, struct tls_pair *ret, struct err *err);
int tls_make_cert(const struct tls_pair *ca, const char *common_name, const char *const *hosts,
                  int days, struct tls_pair *ret, struct err *err);

/* Sets *ret to true if the certificate is valid for all of these hosts, else to false. */
int tls_cert_names_all(const char *cert_pem, const char *const *hosts, bool *ret, struct err *err);

/* HMAC-SHA256 of the data. The key must have at most INT_MAX bytes. */
enum { TLS_HMAC_SIZE = 32 };
int tls_hmac(const void *key, size_t key_size, const void *data, size_t size,
             unsigned char ret[TLS_HMAC_SIZE], struct err *err);

/* SHA-1, only for protocols that require it, because SHA-1 is no longer secure against
 * collisions. */
enum { TLS_SHA1_SIZE = 20 };
int tls_sha1(const void *data, size_t size, unsigned char ret[TLS_SHA1_SIZE], struct err *err);

/* SHA-256 of data that is added piece by piece, for the digests of image layers. `ret` gets the
 * digest in lower-case hexadecimal. */
enum { TLS_SHA256_TEXT = 64 + 1 };
struct tls_sha256;
struct tls_sha256 *tls_sha256_new(void);
void tls_sha256_add(struct tls_sha256 *sum, const void *data, size_t size);
/* Must be called only once per `sum`. */
void tls_sha256_end(struct tls_sha256 *sum, char ret[TLS_SHA256_TEXT]);
struct tls_sha256 *tls_sha256_free(struct tls_sha256 *sum); /* NULL-safe */
DEFINE_CLEANUP(tls_sha256)

/* HKDF-SHA256: derives a key from a secret, for the purpose that `salt` and `info` describe. */
enum { TLS_KEY_SIZE = 32 };
int tls_hkdf(const void *secret, size_t secret_size, const void *salt, size_t salt_size,
             const void *info, size_t info_size, unsigned char ret[TLS_KEY_SIZE], struct err *err);

struct tls_server;
int tls_server_new(const char *cert_pem, const char *key_pem, struct tls_server **ret,
                   struct err *err);
struct tls_server *tls_server_free(struct tls_server *server);

/* The server's side of one TLS connection, without a socket. The caller passes encrypted bytes from
 * the peer to tls_feed(), and sends the encrypted bytes that tls_drain() returns. tls_read()
 * returns decrypted bytes; tls_write() encrypts bytes. Both return the number of bytes or a
 * negative error. 0 means that more encrypted bytes from the peer are needed first, or that the
 * peer has closed the session (tls_peer_closed()). After each call of another function, the caller
 * must call tls_drain() until it returns 0. */
struct tls_session;
struct tls_session *tls_session_new(struct tls_server *server);
struct tls_session *tls_session_free(struct tls_session *session);
int tls_feed(struct tls_session *session, const void *data, size_t size, struct err *err);
long tls_read(struct tls_session *session, void *data, size_t size, struct err *err);
long tls_write(struct tls_session *session, const void *data, size_t size, struct err *err);
long tls_drain(struct tls_session *session, void *data, size_t size);
bool tls_handshake_done(const struct tls_session *session);
bool tls_peer_closed(const struct tls_session *session);
void tls_shutdown(struct tls_session *session); /* queues close_notify for tls_drain() */

/* Runs a TLS client on a connected socket. Accepts any certificate of the server. Reads the request
 * with one read() from `in` and sends it. Writes the response to `out` until the server closes the
 * connection, or until the reader of `out` closes its end. Blocks. */
int tls_client_exchange(int fd, const char *host, int in, int out, struct err *err);

/* A connection between two processes that share a secret key: TLS 1.3 with the key as an external
 * pre-shared key and an ephemeral key exchange, without certificates. The owner passes functions
 * that receive and send on its descriptor. They return the number of bytes or a negative errno:
 * -EAGAIN if no byte can be transferred now, -ENOTCONN at the end of the connection. */
struct tls_stream_io {
    ssize_t (*recv)(int fd, void *data, size_t size);
    ssize_t (*send)(int fd, const void *data, size_t size);
};

/* The state that all such connections of a process share. It must outlive the connections. */
struct tls_psk;
int tls_psk_new(const struct tls_stream_io *wire, struct tls_psk **ret, struct err *err);
struct tls_psk *tls_psk_free(struct tls_psk *keyed);
/* For tests: sets the number of records that are sent before the key is updated. */
void tls_psk_set_rekey_limit(struct tls_psk *keyed, uint64_t records);

/* One connection. The owner keeps and closes the descriptor. Call tls_stream_handshake() until it
 * returns 0, then send and receive. tls_stream_recv() and tls_stream_send() return the number of
 * bytes. On failure, all three functions return a negative errno like the functions of
 * tls_stream_io, or -EBADMSG if the received bytes were not sent by a process with the same key.
 * Wait for the descriptor only after -EAGAIN. A send that returned -EAGAIN must be repeated with
 * the same bytes; more bytes may follow them. */
struct tls_stream;
struct tls_stream *tls_stream_new(const struct tls_psk *keyed, int fd, bool client,
                                  const unsigned char key[TLS_KEY_SIZE]);
struct tls_stream *tls_stream_free(struct tls_stream *stream);
int tls_stream_handshake(struct tls_stream *stream);
/* To be called after -EAGAIN. Returns true if the stream waits to send, or false if it waits to
 * receive. */
bool tls_stream_wants_to_send(const struct tls_stream *stream);
ssize_t tls_stream_recv(struct tls_stream *stream, void *data, size_t size);
ssize_t tls_stream_send(struct tls_stream *stream, const void *data, size_t size);
const char *tls_stream_cipher(const struct tls_stream *stream);

#endif
