/* Certificates, hashes and TLS on OpenSSL. Nothing here opens a socket: a server's sessions read
 * and write memory, and net/ moves the bytes; the encrypted connections of comm/ read and write
 * through functions that comm/ passes. */
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

/* Returns 0 if both texts can be parsed and the key belongs to the certificate. A key that is
 * protected by a password is an error. */
int tls_pair_check(const struct tls_pair *pair, struct err *err);

/* Make a P-256 certificate authority, and certificates that it signs. `hosts` holds DNS names and
 * IP addresses and is NULL-terminated. A certificate with hosts is for a server, one without hosts
 * is for a client. */
int tls_make_ca(const char *common_name, int days, struct tls_pair *ret, struct err *err);
int tls_make_cert(const struct tls_pair *ca, const char *common_name, const char *const *hosts,
                  int days, struct tls_pair *ret, struct err *err);

/* Sets *ret to whether the certificate is valid for all of these hosts. */
int tls_cert_names_all(const char *cert_pem, const char *const *hosts, bool *ret, struct err *err);

/* HMAC-SHA256 of the data. The key has at most 4096 bytes. */
enum { TLS_HMAC_SIZE = 32 };
int tls_hmac(const void *key, size_t key_size, const void *data, size_t size,
             unsigned char ret[TLS_HMAC_SIZE], struct err *err);

/* SHA-1, for protocols that require it. It no longer protects against forgery. */
enum { TLS_SHA1_SIZE = 20 };
int tls_sha1(const void *data, size_t size, unsigned char ret[TLS_SHA1_SIZE], struct err *err);

/* SHA-256 of data that is added piece by piece: the digests of image layers. `ret` is the digest in
 * lower-case hexadecimal. */
enum { TLS_SHA256_TEXT = 64 + 1 };
struct tls_sha256;
struct tls_sha256 *tls_sha256_new(void);
void tls_sha256_add(struct tls_sha256 *sum, const void *data, size_t size);
/* Must be called once only. */
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
 * the peer to tls_feed() and sends those that tls_drain() returns. tls_read() returns decrypted
 * bytes; tls_write() takes bytes to encrypt. Both return the number of bytes; 0 means that more
 * encrypted bytes are needed first. The caller drains after every call. */
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

/* A TLS client on a connected socket that accepts any certificate of the server: sends the first
 * piece that it reads from `in`, and writes the response to `out` until the server or `out` ends.
 * Blocks. */
int tls_client_exchange(int fd, const char *host, int in, int out, struct err *err);

/* A connection between two processes that share a secret key: TLS 1.3 with the key as an external
 * pre-shared key and a fresh key exchange, without certificates. The owner passes functions that
 * move bytes on its descriptor. They return like recv() and send(), but a negative errno on
 * failure: -EAGAIN if no byte can be moved now, -ENOTCONN at the end of the connection. */
struct tls_stream_io {
    ssize_t (*recv)(int fd, void *data, size_t size);
    ssize_t (*send)(int fd, const void *data, size_t size);
};

/* The state that all such connections of a process share. Must outlive them. */
struct tls_psk;
int tls_psk_new(const struct tls_stream_io *wire, struct tls_psk **ret, struct err *err);
struct tls_psk *tls_psk_free(struct tls_psk *keyed);
/* For tests: the number of records that are sent under one key before the key is replaced by its
 * successor. */
void tls_psk_set_rekey_limit(struct tls_psk *keyed, uint64_t records);

/* One connection. The descriptor stays with the owner. Call tls_stream_handshake() until it returns
 * 0, then send and receive. All return like the functions of tls_stream_io, and -EBADMSG if the
 * received bytes were not sent by a process that knows the key. Wait for the descriptor only after
 * -EAGAIN. A send that returned -EAGAIN must be repeated with at least the same bytes. */
struct tls_stream;
struct tls_stream *tls_stream_new(const struct tls_psk *keyed, int fd, bool client,
                                  const unsigned char key[TLS_KEY_SIZE]);
struct tls_stream *tls_stream_free(struct tls_stream *stream);
int tls_stream_handshake(struct tls_stream *stream);
/* After -EAGAIN: whether the stream waits to send. Otherwise it waits to receive. */
bool tls_stream_wants_to_send(const struct tls_stream *stream);
ssize_t tls_stream_recv(struct tls_stream *stream, void *data, size_t size);
ssize_t tls_stream_send(struct tls_stream *stream, const void *data, size_t size);
const char *tls_stream_cipher(const struct tls_stream *stream);

#endif
