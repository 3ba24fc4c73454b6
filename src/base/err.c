/* Implements the error object and the table of codes; see err.h. */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct err_info INFO[ERR_CODES] = {
    [ERR_NONE] = {"no error", "", 200, 0},
    [ERR_INTERNAL] = {"internal error", "InternalError", 500, 1},
    [ERR_INVALID] = {"invalid", "Invalid", 422, 1},
    [ERR_BAD_REQUEST] = {"bad request", "BadRequest", 400, 1},
    [ERR_NOT_FOUND] = {"not found", "NotFound", 404, 1},
    [ERR_EXISTS] = {"already exists", "AlreadyExists", 409, 1},
    [ERR_CONFLICT] = {"conflict", "Conflict", 409, 1},
    [ERR_EXPIRED] = {"expired", "Expired", 410, 1},
    [ERR_UNAUTHORIZED] = {"unauthorized", "Unauthorized", 401, 1},
    [ERR_FORBIDDEN] = {"forbidden", "Forbidden", 403, 1},
    [ERR_METHOD] = {"method not allowed", "MethodNotAllowed", 405, 1},
    [ERR_NOT_ACCEPTABLE] = {"not acceptable", "NotAcceptable", 406, 1},
    [ERR_MEDIA_TYPE] = {"unsupported media type", "UnsupportedMediaType", 415, 1},
    [ERR_TOO_LARGE] = {"too large", "RequestEntityTooLarge", 413, 1},
    [ERR_TOO_MANY] = {"too many", "TooManyRequests", 429, 1},
    [ERR_TIMEOUT] = {"timed out", "Timeout", 504, 1},
    [ERR_UNAVAILABLE] = {"unavailable", "ServiceUnavailable", 503, 1},
    [ERR_UNSUPPORTED] = {"not supported", "NotImplemented", 501, 1},
    [ERR_CANCELED] = {"canceled", "Timeout", 499, 130},
    [ERR_IO] = {"input/output error", "InternalError", 500, 1},
    [ERR_USAGE] = {"usage", "BadRequest", 400, 2},
    [ERR_UNKNOWN] = {"unknown error", "", 500, 1},
};

const struct err_info *err_info(enum err_code code)
{
    return &INFO[(unsigned)code < ERR_CODES ? code : ERR_INTERNAL];
}

enum err_code err_code_of_http(int status)
{
    for (int code = ERR_INTERNAL; code < ERR_CODES; code++)
        if (INFO[code].http_status == status)
            return (enum err_code)code;
    return status >= 400 && status < 500 ? ERR_BAD_REQUEST : ERR_INTERNAL;
}

/* Ends the message with "…" if its full length, `wanted` bytes, does not fit. */
static void mark_cut(struct err *err, int wanted)
{
    static const char mark[] = "…";
    if (wanted >= ERR_MESSAGE_MAX)
        memcpy(err->message + ERR_MESSAGE_MAX - sizeof(mark), mark, sizeof(mark));
}

int(err_vset)(struct err *err, enum err_code code, const char *format, va_list args)
{
    if (code == ERR_NONE)
        code = ERR_INTERNAL;
    if (err) {
        err->code = code;
        err->sys = 0;
        mark_cut(err, vsnprintf(err->message, sizeof(err->message), format, args));
    }
    return -(int)code;
}

int(err_set)(struct err *err, enum err_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int result = err_vset(err, code, format, args);
    va_end(args);
    return result;
}

static enum err_code code_of_errno(int errnum)
{
    switch (errnum) {
    case ENOENT:
        return ERR_NOT_FOUND;
    case EEXIST:
        return ERR_EXISTS;
    case EACCES:
    case EPERM:
        return ERR_FORBIDDEN;
    case ETIMEDOUT:
        return ERR_TIMEOUT;
    case ECONNREFUSED:
    case ECONNRESET:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EPIPE:
        return ERR_UNAVAILABLE;
    default:
        return ERR_IO;
    }
}

int(err_set_errno)(struct err *err, int errnum, const char *format, ...)
{
    enum err_code code = code_of_errno(errnum);
    if (!err)
        return -(int)code;
    va_list args;
    va_start(args, format);
    err_vset(err, code, format, args);
    va_end(args);
    size_t used = strlen(err->message);
    char reason[128];
    mark_cut(err, (int)used + snprintf(err->message + used, sizeof(err->message) - used, ": %s",
                                       strerror_r(errnum, reason, sizeof(reason))));
    err->sys = errnum;
    return -(int)code;
}

int(err_wrap)(struct err *err, const char *format, ...)
{
    if (!err)
        return -(int)ERR_INTERNAL;
    char inner[ERR_MESSAGE_MAX];
    memcpy(inner, err->message, sizeof(inner));
    va_list args;
    va_start(args, format);
    int used = vsnprintf(err->message, sizeof(err->message), format, args);
    va_end(args);
    if (used >= 0 && used < ERR_MESSAGE_MAX)
        used += snprintf(err->message + used, sizeof(err->message) - (size_t)used, ": %s", inner);
    mark_cut(err, used);
    if (err->code == ERR_NONE)
        err->code = ERR_INTERNAL;
    return -(int)err->code;
}

void err_clear(struct err *err)
{
    *err = ERR_INIT;
}
