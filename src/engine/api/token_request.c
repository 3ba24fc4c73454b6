/* Handles POST serviceaccounts/NAME/token: takes a TokenRequest and responds with the same request
 * and a token in its status. `kubectl create token` sends this request, and so does the node for
 * the pods that it starts. */
#include "base/moment.h"
#include "base/str.h"
#include "engine/access/token.h"
#include "engine/api/handlers.h"
#include "engine/api/write.h"
#include "kube/object.h"

enum {
    LIFE_DEFAULT_S = 60 * 60,
    LIFE_MIN_S = 10 * 60,
    LIFE_MAX_S = 10 * 365 * 24 * 60 * 60,
    AUDIENCES_MAX = 16,
};

/* Returns -ERR_INVALID for an invalid lifetime. The Status of the response names the TokenRequest.
 */
static int reject_lifetime(struct api_call *call, const struct json *life, const char *why,
                           struct err *err)
{
    static const struct kube_kind requests = {
        .id = {.group = "authentication.k8s.io", .kind = "TokenRequest"}};
    field_invalid(&call->invalid, "spec.expirationSeconds", life, "%s", why);
    call->about_resource = &requests;
    call->about_name = "";
    return err_set(err, ERR_INVALID, "TokenRequest is invalid");
}

static int read_lifetime(struct api_call *call, const struct json *spec, int64_t *ret,
                         struct err *err)
{
    const struct json *life = json_get(spec, "expirationSeconds");
    *ret = LIFE_DEFAULT_S;
    if (!life || life->type == JSON_NULL)
        return 0;
    if (life->type != JSON_INT)
        return reject_lifetime(call, life, "must be a whole number of seconds", err);
    if (life->integer < LIFE_MIN_S)
        return reject_lifetime(call, life, "may not specify a duration less than 10 minutes", err);
    if (life->integer > LIFE_MAX_S)
        return reject_lifetime(call, life, "may not specify a duration larger than 10 years", err);
    *ret = life->integer;
    return 0;
}

static int check_audiences(const struct json *audiences, struct err *err)
{
    bool fits = !audiences || audiences->type == JSON_NULL || audiences->type == JSON_ARRAY;
    JSON_EACH (audience, audiences) {
        fits = fits && json_text(audience);
    }
    return fits && json_count(audiences) <= AUDIENCES_MAX
               ? 0
               : err_set(err, ERR_INVALID, "spec.audiences: must be a list of at most %d strings",
                         AUDIENCES_MAX);
}

/* If the request has a reference to a pod, binds the token to the pod: sets claims->pod and
 * claims->pod_uid. The pod must exist and run as this service account. If the reference has a uid,
 * the pod must have this uid. */
static int read_pod(struct api_call *call, const struct json *reference,
                    struct token_claims *claims, struct err *err)
{
    const char *kind = json_get_string(reference, "kind", "");
    const char *name = json_get_string(reference, "name", "");
    const char *uid = json_get_string(reference, "uid", "");
    if (!reference || reference->type == JSON_NULL)
        return 0;
    if (!str_eq(kind, "Pod"))
        return err_set(err, ERR_INVALID,
                       "spec.boundObjectRef: cannot bind token to object of kind \"%.63s\", only "
                       "to a Pod",
                       kind);
    const struct kube_kind *pods = &KUBE_POD_KIND;
    struct store_object *stored = store_get(
        engine_store(call->engine), stored_key(call->arena, pods, call->route.namespace_, name));
    if (!stored)
        return err_set(err, ERR_NOT_FOUND, "pods \"%.253s\" not found", name);
    struct json *pod = NULL;
    int result = stored_read(call->arena, stored, &pod, err);
    store_object_unref(stored);
    if (result < 0)
        return result;
    if (uid[0] && !str_eq(uid, kube_meta_uid(pod)))
        return err_set(err, ERR_CONFLICT,
                       "the UID in the bound object reference (%.64s) does not match the UID in "
                       "record. The object might have been deleted and then recreated",
                       uid);
    if (!str_eq(json_get_string(json_get(pod, "spec"), "serviceAccountName", ""), claims->account))
        return err_set(err, ERR_BAD_REQUEST,
                       "cannot bind token for serviceaccount \"%s\" to pod running with different "
                       "serviceaccount name",
                       claims->account);
    claims->pod = kube_meta_name(pod);
    claims->pod_uid = kube_meta_uid(pod);
    return 0;
}

/* Makes the token and sets the status of the request. */
static int token_request_issue(struct api_call *call, const struct json *request,
                               const struct json *account, struct json *status, struct err *err)
{
    const struct json *spec = json_get(request, "spec");
    const struct engine_signer *signer = engine_signer(call->engine);
    struct token_claims claims = {
        .namespace_ = call->route.namespace_,
        .account = call->route.name,
        .account_uid = kube_meta_uid(account),
        .audiences = json_get(spec, "audiences"),
        .issued_s = loop_wall_ms(engine_loop(call->engine)) / 1000,
    };
    int64_t life_s = 0;
    const char *token = NULL;
    char expires[MOMENT_TEXT_MAX];
    int result;
    if (!signer->sign)
        return err_set(err, ERR_UNSUPPORTED, "this server has no key to sign tokens with");
    if ((result = read_lifetime(call, spec, &life_s, err)) < 0 ||
        (result = check_audiences(claims.audiences, err)) < 0 ||
        (result = read_pod(call, json_get(spec, "boundObjectRef"), &claims, err)) < 0)
        return result;
    claims.expires_s = claims.issued_s + life_s;
    result = token_make(call->arena, signer, &claims, &token, err);
    if (result < 0)
        return result;
    moment_format(claims.expires_s * 1000, expires);
    json_set_string(call->arena, status, "token", token);
    json_set_string(call->arena, status, "expirationTimestamp", expires);
    return 0;
}

void api_handle_token(struct api_call *call)
{
    struct err err = ERR_INIT;
    struct json *request, *account, *status = json_object(call->arena);
    int64_t revision;
    if (api_read_body_as(call, "TokenRequest", &request, &err) < 0 ||
        api_load(call, call->route.name, &account, &revision, &err) < 0 ||
        token_request_issue(call, request, account, status, &err) < 0) {
        api_respond_error(call, &err);
        return;
    }
    struct json *answer = request ? request : json_object(call->arena);
    json_set_string(call->arena, answer, "kind", "TokenRequest");
    json_set_string(call->arena, answer, "apiVersion", "authentication.k8s.io/v1");
    json_ensure_object(call->arena, answer, "metadata");
    json_set(call->arena, answer, "status", status);
    api_respond_json(call, 201, answer);
}
