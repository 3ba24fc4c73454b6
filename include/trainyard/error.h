/* The error object of libtrainyard's public interface. It lives on the caller's stack; a function
 * that can fail takes it last, returns 0 or a negative `enum ty_error_code`, and leaves its outputs
 * alone on failure. It may be NULL: only the code counts. */
#ifndef TRAINYARD_ERROR_H
#define TRAINYARD_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

enum ty_error_code {
    TY_OK = 0,
    TY_ERROR_DEFECT,      /* ours, or a peer that broke its protocol */
    TY_ERROR_INVALID,     /* an input that cannot be right; the message says what is wrong */
    TY_ERROR_FORBIDDEN,   /* a peer of another job, or one that does not know the secret */
    TY_ERROR_TIMEOUT,     /* waited long enough; the message says for whom */
    TY_ERROR_UNAVAILABLE, /* a peer is lost or the network says no */
    TY_ERROR_UNSUPPORTED, /* understood, and not done here */
    TY_ERROR_SYSTEM,      /* the operating system said no */
};

enum { TY_ERROR_MESSAGE_MAX = 512 };

struct ty_error {
    enum ty_error_code code;
    char message[TY_ERROR_MESSAGE_MAX]; /* no capital, no full stop, the subject first */
};

#ifdef __cplusplus
}
#endif

#endif
