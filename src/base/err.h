/* The error object. It lives on the caller's stack, so an error path frees nothing.
 *
 * A function that can fail takes `struct err *err` as its last parameter and returns 0 or a
 * negative `enum err_code`. The function that understands the failure makes the message; callers
 * add a prefix with err_wrap(), so that the user reads the subject first: "cannot read 'job.yaml':
 * No such file or directory". Messages start in lower case and end without a full stop. `err` may
 * be NULL; then only the code is returned. */
#ifndef TRAINYARD_BASE_ERR_H
#define TRAINYARD_BASE_ERR_H

#include <stdarg.h>

enum err_code {
    ERR_NONE = 0,
    ERR_INTERNAL,       /* a defect in this program, or a peer that broke its protocol */
    ERR_INVALID,        /* well-formed input with a forbidden value (Kubernetes: Invalid, 422) */
    ERR_BAD_REQUEST,    /* input that cannot be parsed or understood */
    ERR_NOT_FOUND,      /* the named object or file does not exist */
    ERR_EXISTS,         /* the named object or file exists already */
    ERR_CONFLICT,       /* the object changed since it was read; read it again and retry */
    ERR_EXPIRED,        /* the requested history is no longer kept; list again */
    ERR_UNAUTHORIZED,   /* the client is not authenticated */
    ERR_FORBIDDEN,      /* the client is authenticated, but not allowed to do this */
    ERR_METHOD,         /* the resource does not support this HTTP method */
    ERR_NOT_ACCEPTABLE, /* the server has no representation that the client accepts */
    ERR_MEDIA_TYPE,     /* the request body has an unsupported media type */
    ERR_TOO_LARGE,      /* the input is larger than a limit */
    ERR_TOO_MANY,       /* a limit on a number or a rate is exceeded */
    ERR_TIMEOUT,        /* the time limit passed */
    ERR_UNAVAILABLE,    /* not reachable or not ready now; a retry may succeed */
    ERR_UNSUPPORTED,    /* valid input that this program does not implement */
    ERR_CANCELED,       /* the caller canceled the operation */
    ERR_IO,             /* input, output or a system call failed; err_set_errno() sets `sys` */
    ERR_USAGE,          /* a wrong command line */
    ERR_UNKNOWN,        /* any other failure; Kubernetes: status 500 without a reason */
    ERR_CODES,          /* number of codes */
};

enum { ERR_MESSAGE_MAX = 512 };

struct err {
    enum err_code code;
    int sys; /* errno of the failed system call, or 0 */
    char message[ERR_MESSAGE_MAX];
};

#define ERR_INIT ((struct err){0})

/* The forms in which users and clients see a code. A table in err.c has one row per code. */
struct err_info {
    const char *name;   /* "not found" */
    const char *reason; /* metav1.Status reason, "NotFound" */
    int http_status;    /* 404 */
    int exit_code;      /* exit code of a command that fails with this code */
};

const struct err_info *err_info(enum err_code code);

/* Returns the code for the HTTP status of a response. If several codes have this status, returns
 * the first one of the enum: ERR_EXISTS for 409. If no code has this status, returns
 * ERR_BAD_REQUEST for 4xx and ERR_INTERNAL for others. */
enum err_code err_code_of_http(int status);

/* err_set() and err_vset() set the code and the message and return -code, so that an error path is
 * one line: `return err_set(err, ERR_INVALID, …);`. ERR_NONE becomes ERR_INTERNAL. A message that
 * does not fit into ERR_MESSAGE_MAX bytes is cut and ends with "…". */
int err_set(struct err *err, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int err_vset(struct err *err, enum err_code code, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Sets the message "<message>: <strerror(errnum)>", `sys`, and the code that fits errnum (ENOENT:
 * not found, EEXIST: exists, EACCES and EPERM: forbidden, ETIMEDOUT: timeout, ECONNREFUSED and
 * similar: unavailable, all others: ERR_IO). Returns -code. */
int err_set_errno(struct err *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "<prefix>: " before the message. Keeps the code; ERR_NONE becomes ERR_INTERNAL. Returns
 * -code. If `err` is NULL, the code is unknown and -ERR_INTERNAL is returned. */
int err_wrap(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

void err_clear(struct err *err);

/* Tells compilers and analyzers that `call` returns a negative value. Without this, they warn about
 * outputs that are set only on success. */
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
