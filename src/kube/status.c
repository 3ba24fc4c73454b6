/* Converts between metav1.Status and struct err; see status.h. */
#include "kube/status.h"

#include "base/str.h"

#include <string.h>

static void add_details(struct arena *arena, struct json *status,
                        const struct kube_status_details *details)
{
    if (!details)
        return;
    struct json *object = json_object(arena);
    if (!str_is_empty(details->name))
        json_set_string(arena, object, "name", details->name);
    if (!str_is_empty(details->group))
        json_set_string(arena, object, "group", details->group);
    if (!str_is_empty(details->kind))
        json_set_string(arena, object, "kind", details->kind);
    if (!str_is_empty(details->uid))
        json_set_string(arena, object, "uid", details->uid);
    if (json_count(details->causes))
        json_set(arena, object, "causes", json_clone(arena, details->causes));
    if (details->retry_after_seconds > 0)
        json_set_int(arena, object, "retryAfterSeconds", details->retry_after_seconds);
    json_set(arena, status, "details", object);
}

static struct json *make_status(struct arena *arena, const char *outcome)
{
    struct json *status = json_object(arena);
    json_set_string(arena, status, "kind", "Status");
    json_set_string(arena, status, "apiVersion", "v1");
    json_set(arena, status, "metadata", json_object(arena));
    json_set_string(arena, status, "status", outcome);
    return status;
}

struct json *kube_status_from_err(struct arena *arena, const struct err *err,
                                  const struct kube_status_details *details)
{
    const struct err_info *info = err_info(err->code);
    struct json *status = make_status(arena, "Failure");
    json_set_string(arena, status, "message", *err->message ? err->message : info->name);
    if (info->reason[0])
        json_set_string(arena, status, "reason", info->reason);
    add_details(arena, status, details);
    json_set_int(arena, status, "code", info->http_status);
    return status;
}

struct json *kube_status_success(struct arena *arena, const struct kube_status_details *details)
{
    struct json *status = make_status(arena, "Success");
    add_details(arena, status, details);
    return status;
}

void kube_status_add_cause(struct arena *arena, struct json *causes, const char *reason,
                           const char *field, const char *message)
{
    struct json *cause = json_object(arena);
    json_set_string(arena, cause, "reason", reason);
    json_set_string(arena, cause, "message", message);
    if (!str_is_empty(field))
        json_set_string(arena, cause, "field", field);
    json_append(causes, cause);
}

bool kube_status_is_status(const struct json *object)
{
    return str_eq(json_get_string(object, "kind", NULL), "Status") &&
           str_has_prefix(json_get_string(object, "apiVersion", ""), "v1");
}

/* Returns the code of the reason, because two error codes share HTTP status 409. "Gone" is the
 * older word for "Expired". If the reason is unknown, returns the code of the HTTP status. */
static enum err_code code_of(const char *reason, int http_status)
{
    if (!str_is_empty(reason)) {
        for (int code = ERR_INTERNAL; code < ERR_CODES; code++)
            if (str_eq(err_info((enum err_code)code)->reason, reason))
                return (enum err_code)code;
        if (str_eq(reason, "Gone"))
            return ERR_EXPIRED;
        if (str_eq(reason, "ServerTimeout"))
            return ERR_TIMEOUT;
    }
    return err_code_of_http(http_status);
}

int kube_status_to_err(const struct json *status, struct err *err)
{
    if (!kube_status_is_status(status))
        return err_set(err, ERR_INTERNAL, "the server's answer is not a Status");
    if (str_eq(json_get_string(status, "status", NULL), "Success"))
        return 0;
    int64_t http_status = json_get_int(status, "code", 500);
    const char *reason = json_get_string(status, "reason", "");
    enum err_code code =
        code_of(reason, http_status > 0 && http_status < 1000 ? (int)http_status : 500);
    const char *message = json_get_string(status, "message", "");
    return err_set(err, code, "%s", *message ? message : err_info(code)->name);
}

enum { BODY_SHOWN_MAX = 200 };

int kube_status_of_answer(int http_status, const char *body, size_t size, const char *what,
                          struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *json = NULL;
    if (size && json_parse(arena, body, size, NULL, &json, NULL) == 0 &&
        kube_status_is_status(json)) {
        int result = kube_status_to_err(json, err);
        if (result < 0)
            return result;
    }
    size_t shown = 0;
    while (shown < size && shown < BODY_SHOWN_MAX && (unsigned char)body[shown] >= ' ')
        shown++;
    return err_set(err, err_code_of_http(http_status), "%s: the server answered %d%s%.*s", what,
                   http_status, shown ? ": " : "", (int)shown, shown ? body : "");
}
