/* The error object of the public interface of libtrainyard. It lives on the caller's stack. A
 * function that can fail takes it as the last parameter, returns 0 or a negative `enum
 * ty_error_code`, and does not change its outputs on failure. The parameter may be NULL. */
#ifndef TRAINYARD_ERROR_H
#define TRAINYARD_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

enum ty_error_code {
    TY_OK = 0,
    TY_ERROR_DEFECT,      /* a defect of this library, or a peer that broke the protocol */
    TY_ERROR_INVALID,     /* an invalid argument or input; the message says what is wrong */
    TY_ERROR_FORBIDDEN,   /* a peer belongs to another job or does not know the secret */
    TY_ERROR_TIMEOUT,     /* a wait took too long; the message names the peer */
    TY_ERROR_UNAVAILABLE, /* a peer is lost, or the network failed */
    TY_ERROR_UNSUPPORTED, /* the operation is not supported in this cluster or group */
    TY_ERROR_SYSTEM,      /* the operating system returned an error */
};

enum { TY_ERROR_MESSAGE_MAX = 512 };

struct ty_error {
    enum ty_error_code code;
    char message[TY_ERROR_MESSAGE_MAX]; /* lower case, without a full stop */
};

#ifdef __cplusplus
}
#endif

#endif
