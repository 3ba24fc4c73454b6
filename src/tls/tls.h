/* Certificates and TLS sessions on OpenSSL, from and to memory: no sockets here. net/ and comm/
 * move the bytes. */
#ifndef TRAINYARD_TLS_TLS_H
#define TRAINYARD_TLS_TLS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

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

#endif
