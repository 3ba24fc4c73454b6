/* The error object. It lives on the caller's stack, so nothing is ever freed on an error path.
 *
 * A function that can fail takes `struct err *err` last and returns 0 or a negative `enum
 * err_code`. The message is made where the failure is understood and wrapped on the way up, so that
 * what the user reads names the subject first: "cannot read 'job.yaml': No such file or directory".
 * Messages start with no capital and end with no full stop. `err` may be NULL: only the code
 * counts.
 */
#ifndef TRAINYARD_BASE_ERR_H
#define TRAINYARD_BASE_ERR_H

#include <stdarg.h>

enum err_code {
    ERR_NONE = 0,
    ERR_INTERNAL,       /* a defect of ours, or a peer that broke its protocol */
    ERR_INVALID,        /* well-formed input with a forbidden value (Kubernetes: Invalid, 422) */
    ERR_BAD_REQUEST,    /* input that cannot be understood at all */
    ERR_NOT_FOUND,      /* the named thing does not exist */
    ERR_EXISTS,         /* the named thing exists already */
    ERR_CONFLICT,       /* the thing changed since it was read; read again and retry */
    ERR_EXPIRED,        /* history asked for is gone; list again */
    ERR_UNAUTHORIZED,   /* who is asking is not known */
    ERR_FORBIDDEN,      /* known, but not allowed */
    ERR_METHOD,         /* this method is not allowed on this resource */
    ERR_NOT_ACCEPTABLE, /* no representation the client accepts */
    ERR_MEDIA_TYPE,     /* body of a kind we do not read */
    ERR_TOO_LARGE,      /* over a limit on input */
    ERR_TOO_MANY,       /* over a limit on number or rate */
    ERR_TIMEOUT,        /* waited long enough */
    ERR_UNAVAILABLE,    /* not reachable or not ready now; later may work */
    ERR_UNSUPPORTED,    /* understood, and not done here */
    ERR_CANCELED,       /* the asker gave up */
    ERR_IO,             /* the operating system said no; `sys` holds errno */
    ERR_USAGE,          /* a wrong command line */
    ERR_UNKNOWN,        /* what Kubernetes answers with 500 and without a reason */
    ERR_CODES,          /* how many there are */
};

enum { ERR_MESSAGE_MAX = 512 };

struct err {
    enum err_code code;
    int sys; /* errno where the operating system failed, else 0 */
    char message[ERR_MESSAGE_MAX];
};

#define ERR_INIT ((struct err){0})

/* What a code means to the outside: one table for every place that answers. */
struct err_info {
    const char *name;   /* "not found" */
    const char *reason; /* metav1.Status reason, "NotFound" */
    int http_status;    /* 404 */
    int exit_code;      /* of a command that fails with it */
};

const struct err_info *err_info(enum err_code code);

/* The code a peer's HTTP status stands for; ERR_INTERNAL where none fits. */
enum err_code err_code_of_http(int status);

/* Each returns -code, so that `return err_set(err, ERR_INVALID, …);` is the whole error path. A
 * message over ERR_MESSAGE_MAX is cut with "…". */
int err_set(struct err *err, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int err_vset(struct err *err, enum err_code code, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* "<message>: <strerror(errnum)>" with the code that fits errnum (ENOENT: not found, EEXIST:
 * exists, EACCES and EPERM: forbidden, ETIMEDOUT: timeout, ECONNREFUSED…: unavailable, else
 * ERR_IO). */
int err_set_errno(struct err *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "<prefix>: " before the message; the code stays (ERR_INTERNAL if none was set). */
int err_wrap(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

void err_clear(struct err *err);

/* Tell compilers and analyzers what the functions cannot: an error path returns less than 0, so
 * what is only set on success is not read after it. */
#define ERR_IS_NEGATIVE(call)                                                                      \
    ({                                                                                             \
        int result_ = (call);                                                                      \
        if (result_ >= 0)                                                                          \
            __builtin_unreachable();                                                               \
        result_;                                                                                   \
    })
#define err_set(...)       ERR_IS_NEGATIVE((err_set)(__VA_ARGS__))
#define err_vset(...)      ERR_IS_NEGATIVE((err_vset)(__VA_ARGS__))
#define err_set_errno(...) ERR_IS_NEGATIVE((err_set_errno)(__VA_ARGS__))
#define err_wrap(...)      ERR_IS_NEGATIVE((err_wrap)(__VA_ARGS__))

#endif
