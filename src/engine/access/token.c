/* Makes and verifies the tokens of service accounts, which are signed JSON web tokens; see token.h.
 */
#include "engine/access/token.h"

#include "base/base64.h"
#include "base/rand.h"
#include "base/str.h"

#include <string.h>

enum { CLOCK_SLACK_S = 60 }; /* tolerates a clock that was set back a little */

static const char SUBJECT_PREFIX[] = "system:serviceaccount:";

static const char *encode_json(struct arena *arena, const struct json *json)
{
    const char *text = json_to_string(arena, json);
    return base64_encode_url(arena, text, strlen(text));
}

static struct json *token_header(struct arena *arena)
{
    struct json *json = json_object(arena);
    json_set_string(arena, json, "alg", "HS256");
    json_set_string(arena, json, "typ", "JWT");
    return json;
}

static void set_reference(struct arena *arena, struct json *object, const char *member,
                          const char *name, const char *uid)
{
    struct json *reference = json_ensure_object(arena, object, member);
    json_set_string(arena, reference, "name", name);
    json_set_string(arena, reference, "uid", uid);
}

static struct json *token_payload(struct arena *arena, const struct token_claims *claims)
{
    char id[37];
    rand_uuid(id);
    struct json *json = json_object(arena);
    if (json_count(claims->audiences) > 0)
        json_set(arena, json, "aud", json_clone(arena, claims->audiences));
    else
        json_append(json_ensure_array(arena, json, "aud"), json_string(arena, TOKEN_ISSUER));
    json_set_int(arena, json, "exp", claims->expires_s);
    json_set_int(arena, json, "iat", claims->issued_s);
    json_set_string(arena, json, "iss", TOKEN_ISSUER);
    json_set_string(arena, json, "jti", id);
    struct json *kubernetes = json_ensure_object(arena, json, "kubernetes.io");
    json_set_string(arena, kubernetes, "namespace", claims->namespace_);
    if (claims->pod)
        set_reference(arena, kubernetes, "pod", claims->pod, claims->pod_uid);
    set_reference(arena, kubernetes, "serviceaccount", claims->account, claims->account_uid);
    json_set_int(arena, json, "nbf", claims->issued_s);
    json_set(arena, json, "sub",
             json_stringf(arena, "%s%s:%s", SUBJECT_PREFIX, claims->namespace_, claims->account));
    return json;
}

int token_make(struct arena *arena, const struct engine_signer *signer,
               const struct token_claims *claims, const char **ret, struct err *err)
{
    unsigned char signature[ENGINE_SIGNATURE_SIZE];
    const char *signed_text = arena_printf(arena, "%s.%s", encode_json(arena, token_header(arena)),
                                           encode_json(arena, token_payload(arena, claims)));
    int result = signer->sign(signer->context, signed_text, strlen(signed_text), signature, err);
    if (result < 0)
        return result;
    const char *token = arena_printf(arena, "%s.%s", signed_text,
                                     base64_encode_url(arena, signature, sizeof(signature)));
    if (strlen(token) > TOKEN_MAX)
        return err_set(err, ERR_TOO_LARGE, "the token would be larger than %d bytes", TOKEN_MAX);
    *ret = token;
    return 0;
}

/* ---- Verifying ------------------------------------------------------------------------------- */

static int token_reject(struct err *err, const char *reason)
{
    return err_set(err, ERR_UNAUTHORIZED, "%s", reason);
}

/* Compares two signatures in constant time. */
static bool signatures_equal(const unsigned char *signature, const char *given_signature,
                             size_t size)
{
    unsigned difference = size != ENGINE_SIGNATURE_SIZE;
    for (size_t i = 0; i < ENGINE_SIGNATURE_SIZE && i < size; i++)
        difference |= signature[i] ^ (unsigned char)given_signature[i];
    return difference == 0;
}

static int check_signature(struct arena *arena, const struct engine_signer *signer,
                           const char *text, const char *last_dot, struct err *err)
{
    unsigned char signature[ENGINE_SIGNATURE_SIZE];
    char *given_signature;
    size_t size;
    if (base64_decode_url(arena, last_dot + 1, &given_signature, &size, NULL) < 0)
        return token_reject(err, "the token's signature cannot be read");
    int result = signer->sign(signer->context, text, (size_t)(last_dot - text), signature, err);
    if (result < 0)
        return result;
    return signatures_equal(signature, given_signature, size)
               ? 0
               : token_reject(err, "the token was not signed by this cluster");
}

static int decode_json(struct arena *arena, const char *text, size_t size, struct json **ret,
                       struct err *err)
{
    char *data;
    if (base64_decode_url(arena, arena_strndup(arena, text, size), &data, &size, NULL) < 0 ||
        json_parse(arena, data, size, NULL, ret, NULL) < 0)
        return token_reject(err, "the token cannot be read");
    return 0;
}

static bool is_for_this_server(const struct json *audiences)
{
    JSON_EACH (audience, audiences) {
        if (str_eq(json_text(audience), TOKEN_ISSUER))
            return true;
    }
    return false;
}

static int check_claims(struct arena *arena, const struct json *json, int64_t now_s,
                        struct token_claims *ret, struct err *err)
{
    const struct json *kubernetes = json_get(json, "kubernetes.io");
    const struct json *account = json_get(kubernetes, "serviceaccount"),
                      *pod = json_get(kubernetes, "pod");
    struct token_claims claims = {
        .namespace_ = json_get_string(kubernetes, "namespace", ""),
        .account = json_get_string(account, "name", ""),
        .account_uid = json_get_string(account, "uid", ""),
        .pod = pod ? json_get_string(pod, "name", "") : NULL,
        .pod_uid = pod ? json_get_string(pod, "uid", "") : NULL,
        .audiences = json_get(json, "aud"),
        .issued_s = json_get_int(json, "iat", INT64_MAX),
        .expires_s = json_get_int(json, "exp", 0),
    };
    const char *subject =
        arena_printf(arena, "%s%s:%s", SUBJECT_PREFIX, claims.namespace_, claims.account);
    if (!str_eq(json_get_string(json, "iss", ""), TOKEN_ISSUER) || !claims.account_uid[0] ||
        !str_eq(json_get_string(json, "sub", ""), subject))
        return token_reject(err, "the token is not that of a service account of this cluster");
    if (!is_for_this_server(claims.audiences))
        return token_reject(err, "the token has another audience");
    if (json_get_int(json, "nbf", INT64_MAX) > now_s + CLOCK_SLACK_S)
        return token_reject(err, "the token is not valid yet");
    if (claims.expires_s <= now_s)
        return token_reject(err, "the token has expired");
    *ret = claims;
    return 0;
}

int token_verify(struct arena *arena, const struct engine_signer *signer, const char *text,
                 int64_t now_s, struct token_claims *ret, struct err *err)
{
    if (strlen(text) > TOKEN_MAX)
        return token_reject(err, "the token is too long");
    const char *first_dot = strchr(text, '.'), *last_dot = strrchr(text, '.');
    if (!first_dot || first_dot == last_dot ||
        memchr(first_dot + 1, '.', (size_t)(last_dot - first_dot - 1)))
        return token_reject(err, "the token does not have three parts");
    int result = check_signature(arena, signer, text, last_dot, err);
    if (result < 0)
        return result;
    struct json *header, *payload;
    if ((result = decode_json(arena, text, (size_t)(first_dot - text), &header, err)) < 0 ||
        (result = decode_json(arena, first_dot + 1, (size_t)(last_dot - first_dot - 1), &payload,
                              err)) < 0)
        return result;
    if (!str_eq(json_get_string(header, "alg", ""), "HS256"))
        return token_reject(err, "the token is signed with another algorithm");
    return check_claims(arena, payload, now_s, ret, err);
}
