/* POST serviceaccounts/NAME/token: a TokenRequest in, the same with a token in its status out.
 * `kubectl create token` asks so, and the node for the pods it starts. */
#include "base/moment.h"
#include "base/str.h"
#include "engine/access/token.h"
#include "engine/api/rest.h"
#include "kube/object.h"

enum {
    LIFE_DEFAULT_S = 60 * 60,
    LIFE_MIN_S = 10 * 60,
    LIFE_MAX_S = 10 * 365 * 24 * 60 * 60,
    AUDIENCES_MAX = 16,
};

/* A TokenRequest is an object as any other where it is refused. */
static int refuse_life(struct rest *rest, const struct json *life, const char *why, struct err *err)
{
    static const struct kube_kind requests = {
        .id = {.group = "authentication.k8s.io", .kind = "TokenRequest"}};
    field_invalid(&rest->invalid, "spec.expirationSeconds", life, "%s", why);
    rest->about_resource = &requests;
    rest->about_name = "";
    return err_set(err, ERR_INVALID, "TokenRequest is invalid");
}

static int read_life(struct rest *rest, const struct json *spec, int64_t *ret, struct err *err)
{
    const struct json *life = json_get(spec, "expirationSeconds");
    *ret = LIFE_DEFAULT_S;
    if (!life || life->type == JSON_NULL)
        return 0;
    if (life->type != JSON_INT || life->integer < LIFE_MIN_S)
        return refuse_life(rest, life, "may not specify a duration less than 10 minutes", err);
    if (life->integer > LIFE_MAX_S)
        return refuse_life(rest, life, "may not specify a duration larger than 10 years", err);
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

/* The pod a token is to end with: it must be there, be the one that is meant, and run as this
 * account. */
static int read_pod(struct rest *rest, const struct json *reference, struct token_claims *claims,
                    struct err *err)
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
        engine_store(rest->engine), registry_key(rest->arena, pods, rest->route.namespace_, name));
    if (!stored)
        return err_set(err, ERR_NOT_FOUND, "pods \"%.253s\" not found", name);
    struct json *pod = NULL;
    int r = stored_read(rest->arena, stored, &pod, err);
    store_object_unref(stored);
    if (r < 0)
        return r;
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

static int issue(struct rest *rest, const struct json *request, const struct json *account,
                 struct json *status, struct err *err)
{
    const struct json *spec = json_get(request, "spec");
    const struct engine_seal *seal = engine_seal(rest->engine);
    struct token_claims claims = {
        .namespace_ = rest->route.namespace_,
        .account = rest->route.name,
        .account_uid = kube_meta_uid(account),
        .audiences = json_get(spec, "audiences"),
        .issued_s = loop_wall_ms(engine_loop(rest->engine)) / 1000,
    };
    int64_t life_s = 0;
    const char *token = NULL;
    char expires[MOMENT_TEXT_MAX];
    int r;
    if (!seal->make)
        return err_set(err, ERR_UNSUPPORTED, "this server has no key to sign tokens with");
    if ((r = read_life(rest, spec, &life_s, err)) < 0 ||
        (r = check_audiences(claims.audiences, err)) < 0 ||
        (r = read_pod(rest, json_get(spec, "boundObjectRef"), &claims, err)) < 0)
        return r;
    claims.expires_s = claims.issued_s + life_s;
    r = token_make(rest->arena, seal, &claims, &token, err);
    if (r < 0)
        return r;
    moment_format(claims.expires_s * 1000, expires);
    json_set_string(rest->arena, status, "token", token);
    json_set_string(rest->arena, status, "expirationTimestamp", expires);
    return 0;
}

void rest_token(struct rest *rest)
{
    struct err err = ERR_INIT;
    struct json *request, *account, *status = json_object(rest->arena);
    int64_t revision;
    if (rest_read_any(rest, "TokenRequest", &request, &err) < 0 ||
        rest_load(rest, rest->route.name, &account, &revision, &err) < 0 ||
        issue(rest, request, account, status, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    struct json *answer = request ? request : json_object(rest->arena);
    json_set_string(rest->arena, answer, "kind", "TokenRequest");
    json_set_string(rest->arena, answer, "apiVersion", "authentication.k8s.io/v1");
    json_ensure_object(rest->arena, answer, "metadata");
    json_set(rest->arena, answer, "status", status);
    rest_respond_json(rest, 201, answer);
}
