/* The error object of the public interface of libtrainyard. The caller provides it, usually on its
 * stack. A function that can fail takes it as the last parameter, which may be NULL, and returns 0
 * or a negative `enum ty_error_code`. A failed function does not set *ret, but may have overwritten
 * a part of a data buffer. */
#ifndef TRAINYARD_ERROR_H
#define TRAINYARD_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

enum ty_error_code {
    TY_OK = 0,
    /* A defect of this library, an invalid message of a peer, or processes that made different
     * calls. */
    TY_ERROR_DEFECT,
    TY_ERROR_INVALID,     /* an invalid argument or input; the message says what is wrong */
    TY_ERROR_FORBIDDEN,   /* an incompatible peer, a wrong secret, or no permission */
    TY_ERROR_TIMEOUT,     /* a wait took too long; the message names the peer */
    TY_ERROR_UNAVAILABLE, /* a peer is lost, the network failed, or the own port is in use */
    TY_ERROR_UNSUPPORTED, /* the operation is not supported in this cluster or group */
    TY_ERROR_SYSTEM,      /* the operating system returned an error */
};

enum { TY_ERROR_MESSAGE_MAX = 512 };

struct ty_error {
    enum ty_error_code code;
    char message[TY_ERROR_MESSAGE_MAX]; /* without a full stop at the end */
};

#ifdef __cplusplus
}
#endif

#endif
