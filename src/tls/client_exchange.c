/* Sends one request to a TLS server and reads the response; see tls.h. `trainyard probe-tls` calls
 * it for HTTPS probes, which accept any certificate like the probes of Kubernetes. */
#include "tls/tls.h"

#include "tls/openssl_err.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <unistd.h>

/* Fails only until the request is sent. Afterwards the end of the connection, for any reason, ends
 * the response. */
static int exchange_run(SSL *ssl, int in, int out, struct err *err)
{
    char data[32 * 1024];
    ssize_t size = read(in, data, sizeof(data));
    if (SSL_connect(ssl) != 1)
        return openssl_err_set(err, ERR_IO, "tls: the handshake failed");
    if (size <= 0 || SSL_write(ssl, data, (int)size) <= 0)
        return openssl_err_set(err, ERR_IO, "tls: cannot send the request");
    for (int got; (got = SSL_read(ssl, data, sizeof(data))) > 0;) {
        ssize_t written;
        do {
            written = write(out, data, (size_t)got);
        } while (written < 0 && errno == EINTR);
        if (written < got)
            return 0; /* usually the reader of `out` has closed it */
    }
    return 0;
}

int tls_client_exchange(int fd, const char *host, int in, int out, struct err *err)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl = context ? SSL_new(context) : NULL;
    int result;
    if (!ssl || SSL_set_fd(ssl, fd) != 1) {
        result = openssl_err_set(err, ERR_INTERNAL, "tls: cannot create a session");
    } else {
        SSL_set_verify(ssl, SSL_VERIFY_NONE, NULL);
        SSL_set_tlsext_host_name(ssl, host);
        result = exchange_run(ssl, in, out, err);
    }
    SSL_free(ssl);
    SSL_CTX_free(context);
    return result;
}
