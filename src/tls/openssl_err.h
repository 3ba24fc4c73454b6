/* OpenSSL's error queue as our error object. Included by the files of tls/ only. */
#ifndef TRAINYARD_TLS_OPENSSL_ERR_H
#define TRAINYARD_TLS_OPENSSL_ERR_H

#include "base/err.h"

/* "<message>: <what OpenSSL says>" from the oldest entry of the queue, which is emptied. */
int openssl_err_set(struct err *err, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
