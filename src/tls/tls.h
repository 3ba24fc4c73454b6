/* Certificates and TLS on OpenSSL: no sockets here. A server's sessions go from and to memory, and
 * net/ moves the bytes; the encrypted links of comm/ go through functions of theirs. */
#ifndef TRAINYARD_TLS_TLS_H
#define TRAINYARD_TLS_TLS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* PEM texts, malloc'ed. */
struct tls_pair {
    char *cert_pem;
    char *key_pem;
};
void tls_pair_release(struct tls_pair *pair);

/* Whether both can be read and the key is the certificate's. A key under a password cannot. */
int tls_pair_check(const struct tls_pair *pair, struct err *err);

/* A P-256 certificate authority, and certificates it signs. `hosts` are DNS names and IP addresses,
 * NULL-terminated; a certificate with hosts is for servers, without for clients. */
int tls_make_ca(const char *common_name, int days, struct tls_pair *ret, struct err *err);
int tls_make_cert(const struct tls_pair *ca, const char *common_name, const char *const *hosts,
                  int days, struct tls_pair *ret, struct err *err);

/* Whether a certificate is for all of these hosts. */
int tls_cert_names_all(const char *cert_pem, const char *const *hosts, bool *ret, struct err *err);

/* HMAC-SHA256 of the data under a key of up to 4096 bytes. */
enum { TLS_HMAC_SIZE = 32 };
int tls_hmac(const void *key, size_t key_size, const void *data, size_t size,
             unsigned char ret[TLS_HMAC_SIZE], struct err *err);

/* SHA-1, where a protocol asks for it; it protects nothing any more. */
enum { TLS_SHA1_SIZE = 20 };
int tls_sha1(const void *data, size_t size, unsigned char ret[TLS_SHA1_SIZE], struct err *err);

/* SHA-256 of a stream, as images name their parts by it. `ret` is in small hexadecimal letters. */
enum { TLS_SHA256_TEXT = 64 + 1 };
struct tls_sha256;
struct tls_sha256 *tls_sha256_new(void);
void tls_sha256_add(struct tls_sha256 *sum, const void *data, size_t size);
void tls_sha256_end(struct tls_sha256 *sum, char ret[TLS_SHA256_TEXT]); /* once */
struct tls_sha256 *tls_sha256_free(struct tls_sha256 *sum);             /* NULL-safe */
DEFINE_CLEANUP(tls_sha256)

/* HKDF-SHA256: a key out of a secret, for what `salt` and `info` say. */
enum { TLS_KEY_SIZE = 32 };
int tls_hkdf(const void *secret, size_t secret_size, const void *salt, size_t salt_size,
             const void *info, size_t info_size, unsigned char ret[TLS_KEY_SIZE], struct err *err);

struct tls_server;
int tls_server_new(const char *cert_pem, const char *key_pem, struct tls_server **ret,
                   struct err *err);
struct tls_server *tls_server_free(struct tls_server *server);

/* One connection's session. Encrypted bytes go in with tls_feed and come out with tls_drain; plain
 * ones come out with tls_read and go in with tls_write. A read or write that returns 0 wants more
 * encrypted bytes first; after every call, drain. */
struct tls_session;
struct tls_session *tls_session_new(struct tls_server *server);
struct tls_session *tls_session_free(struct tls_session *session);
int tls_feed(struct tls_session *session, const void *data, size_t size, struct err *err);
long tls_read(struct tls_session *session, void *data, size_t size, struct err *err);
long tls_write(struct tls_session *session, const void *data, size_t size, struct err *err);
long tls_drain(struct tls_session *session, void *data, size_t size);
bool tls_handshake_done(const struct tls_session *session);
bool tls_peer_closed(const struct tls_session *session);
void tls_shutdown(struct tls_session *session); /* queue close_notify; drain it */

/* Ask the server at the other end of a connected socket, whatever certificate it shows: what can be
 * read from `in` at once is sent, and the answer goes to `out` until one of the two ends. Blocks.
 */
int tls_client_exchange(int fd, const char *host, int in, int out, struct err *err);

/* A connection between two processes that know a key: TLS 1.3 with the key as external pre-shared
 * key and a fresh key exchange, without certificates. Bytes go through the owner's functions on
 * its descriptor, which answer as recv and send do, but with a negative errno: -EAGAIN when nothing
 * moves now, -ENOTCONN for the end. */
struct tls_stream_io {
    ssize_t (*recv)(int fd, void *data, size_t size);
    ssize_t (*send)(int fd, const void *data, size_t size);
};

/* What all such connections of a process share; outlives them. */
struct tls_psk;
int tls_psk_new(const struct tls_stream_io *wire, struct tls_psk **ret, struct err *err);
struct tls_psk *tls_psk_free(struct tls_psk *keyed);
/* For tests: how many records are sent under one key, before it is replaced by its successor. */
void tls_psk_set_rekey_limit(struct tls_psk *keyed, uint64_t records);

/* The descriptor stays the owner's. Shake hands until it answers 0, then send and receive: all
 * answer as the functions of the wire, and -EBADMSG if what came was not sent by one who knows the
 * key. Wait for the descriptor only after -EAGAIN. A send that answered it must be repeated with at
 * least the same bytes. */
struct tls_stream;
struct tls_stream *tls_stream_new(const struct tls_psk *keyed, int fd, bool client,
                                  const unsigned char key[TLS_KEY_SIZE]);
struct tls_stream *tls_stream_free(struct tls_stream *stream);
int tls_stream_handshake(struct tls_stream *stream);
bool tls_stream_wants_to_send(const struct tls_stream *stream); /* else it waits to receive */
ssize_t tls_stream_recv(struct tls_stream *stream, void *data, size_t size);
ssize_t tls_stream_send(struct tls_stream *stream, const void *data, size_t size);
const char *tls_stream_cipher(const struct tls_stream *stream);

#endif
