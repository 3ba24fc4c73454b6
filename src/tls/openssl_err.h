/* Converts OpenSSL's error queue into a struct err. Included by the files of tls/ only. */
#ifndef TRAINYARD_TLS_OPENSSL_ERR_H
#define TRAINYARD_TLS_OPENSSL_ERR_H

#include "base/err.h"

/* Sets the message "<message>: <reason>" and clears OpenSSL's error queue. The reason is the oldest
 * entry of the queue; if the queue is empty, the message has no reason. Returns -code. */
int openssl_err_set(struct err *err, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
