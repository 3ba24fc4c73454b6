/* Converts OpenSSL's error queue into a struct err; see openssl_err.h. */
#include "tls/openssl_err.h"

#include <openssl/err.h>
#include <stdio.h>

int openssl_err_set(struct err *err, enum err_code code, const char *format, ...)
{
    unsigned long number = ERR_get_error();
    const char *reason = ERR_reason_error_string(number);
    ERR_clear_error();
    if (!err)
        return -(int)code;
    char message[ERR_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (!reason)
        return err_set(err, code, "%s", message);
    return err_set(err, code, "%s: %s", message, reason);
}
