/* Tests tokens: only an issued token is accepted. */
#include "api.h"

#include "base/base64.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/access/token.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { NOW_S = 1700000000 };

static const struct engine_signer SIGNER = {api_sign, NULL};

static struct token_claims claims_of_builder(void)
{
    return (struct token_claims){.namespace_ = "default",
                                 .account = "builder",
                                 .account_uid = "uid-1",
                                 .pod = "p",
                                 .pod_uid = "uid-2",
                                 .issued_s = NOW_S,
                                 .expires_s = NOW_S + 600};
}

static const char *make(struct arena *arena, const struct token_claims *claims)
{
    const char *token = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(token_make(arena, &SIGNER, claims, &token, &err), 0);
    return token;
}

/* Returns a token with any header and payload and a valid signature. */
static const char *forge(struct arena *arena, const char *header, const char *payload)
{
    unsigned char signature[ENGINE_SIGNATURE_SIZE];
    const char *signed_text =
        arena_printf(arena, "%s.%s", base64_encode_url(arena, header, strlen(header)),
                     base64_encode_url(arena, payload, strlen(payload)));
    api_sign(NULL, signed_text, strlen(signed_text), signature, NULL);
    return arena_printf(arena, "%s.%s", signed_text,
                        base64_encode_url(arena, signature, sizeof(signature)));
}

static const char *error_of(struct arena *arena, const char *token, int64_t now_s)
{
    struct token_claims claims;
    struct err err = ERR_INIT;
    int r = token_verify(arena, &SIGNER, token, now_s, &claims, &err);
    assert_int_equal(r, -ERR_UNAUTHORIZED);
    return arena_strdup(arena, err.message);
}

static void test_round_trip(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct token_claims claims = claims_of_builder(), back;
    assert_int_equal(token_verify(arena, &SIGNER, make(arena, &claims), NOW_S + 599, &back, NULL),
                     0);
    assert_string_equal(back.namespace_, "default");
    assert_string_equal(back.account, "builder");
    assert_string_equal(back.account_uid, "uid-1");
    assert_string_equal(back.pod, "p");
    assert_string_equal(back.pod_uid, "uid-2");
    assert_int_equal(back.expires_s, NOW_S + 600);
    claims.pod = NULL;
    assert_int_equal(token_verify(arena, &SIGNER, make(arena, &claims), NOW_S, &back, NULL), 0);
    assert_null(back.pod);
}

static void test_times(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct token_claims claims = claims_of_builder();
    const char *token = make(arena, &claims);
    assert_string_equal(error_of(arena, token, NOW_S + 600), "the token has expired");
    assert_string_equal(error_of(arena, token, NOW_S - 3600), "the token is not valid yet");
}

static void test_audience(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct token_claims claims = claims_of_builder(), back;
    struct json *audiences = json_array(arena);
    json_append(audiences, json_string(arena, "vault"));
    claims.audiences = audiences;
    assert_string_equal(error_of(arena, make(arena, &claims), NOW_S),
                        "the token has another audience");
    json_append(audiences, json_string(arena, TOKEN_ISSUER));
    assert_int_equal(token_verify(arena, &SIGNER, make(arena, &claims), NOW_S, &back, NULL), 0);
}

/* A token with a changed letter, a missing part or an added part is rejected. */
static void test_damaged_tokens(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct token_claims claims = claims_of_builder();
    const char *token = make(arena, &claims);
    size_t size = strlen(token);
    for (size_t i = 0; i < size; i++) {
        char *damaged = arena_strdup(arena, token);
        damaged[i] = damaged[i] == 'A' ? 'B' : 'A';
        error_of(arena, damaged, NOW_S);
        error_of(arena, arena_strndup(arena, token, i), NOW_S);
        arena_reset(arena);
        token = make(arena, &claims);
    }
    static const char *const tails[] = {"A", "=", ".", ".A", " ", "\n"};
    for (size_t i = 0; i < ARRAY_SIZE(tails); i++)
        error_of(arena, arena_printf(arena, "%s%s", token, tails[i]), NOW_S);
    static const char *const wholes[] = {"", ".", "..", "...", "a.b.c", "secret"};
    for (size_t i = 0; i < ARRAY_SIZE(wholes); i++)
        error_of(arena, wholes[i], NOW_S);
}

static void test_forged_tokens(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const char header[] = "{\"alg\":\"HS256\",\"typ\":\"JWT\"}";
    static const char payload[] =
        "{\"aud\":[\"" TOKEN_ISSUER "\"],\"exp\":1700000600,\"iat\":1700000000,\"nbf\":1700000000,"
        "\"iss\":\"" TOKEN_ISSUER "\",\"sub\":\"system:serviceaccount:default:builder\","
        "\"kubernetes.io\":{\"namespace\":\"default\",\"serviceaccount\":{\"name\":\"builder\","
        "\"uid\":\"uid-1\"}}}";
    struct token_claims claims;
    assert_int_equal(
        token_verify(arena, &SIGNER, forge(arena, header, payload), NOW_S, &claims, NULL), 0);
    /* Algorithm none, with and without a signature. */
    static const char none[] = "{\"alg\":\"none\"}";
    assert_string_equal(error_of(arena, forge(arena, none, payload), NOW_S),
                        "the token is signed with another algorithm");
    assert_string_equal(
        error_of(arena,
                 arena_printf(arena, "%s.%s.", base64_encode_url(arena, none, strlen(none)),
                              base64_encode_url(arena, payload, strlen(payload))),
                 NOW_S),
        "the token was not signed by this cluster");
    static const struct {
        const char *what, *with, *reason;
    } rows[] = {
        {"\"iss\":\"https:", "\"iss\":\"http:",
         "the token is not that of a service account of this cluster"},
        {"sub\":\"system:", "sub\":\"System:",
         "the token is not that of a service account of this cluster"},
        {"default:builder", "default:other",
         "the token is not that of a service account of this cluster"},
        {"\"uid\":\"uid-1\"", "\"uid\":\"\"",
         "the token is not that of a service account of this cluster"},
        {"\"exp\":1700000600", "\"exp\":\"never\"", "the token has expired"},
        {"\"nbf\":1700000000", "\"nbf\":null", "the token is not valid yet"},
        {"\"aud\":[\"", "\"aud\":\"", "the token cannot be read"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const char *at = strstr(payload, rows[i].what);
        assert_non_null(at);
        const char *changed = arena_printf(arena, "%.*s%s%s", (int)(at - payload), payload,
                                           rows[i].with, at + strlen(rows[i].what));
        assert_string_equal(error_of(arena, forge(arena, header, changed), NOW_S), rows[i].reason);
    }
}

/* The longest token is accepted. A token with one more letter is neither issued nor accepted. */
static void test_size(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct token_claims claims = claims_of_builder(), back;
    const char *token = NULL, *longest = NULL;
    char *name = arena_zalloc(arena, TOKEN_MAX);
    claims.pod = name;
    for (size_t size = 0; token_make(arena, &SIGNER, &claims, &token, NULL) == 0; size++) {
        longest = token;
        name[size] = 'p';
    }
    assert_in_range(strlen(longest), TOKEN_MAX - 8, TOKEN_MAX);
    assert_int_equal(token_verify(arena, &SIGNER, longest, NOW_S, &back, NULL), 0);
    assert_int_equal(token_make(arena, &SIGNER, &claims, &token, NULL), -ERR_TOO_LARGE);
    memset(name, 'h', TOKEN_MAX - 1);
    assert_string_equal(error_of(arena, forge(arena, name, "{}"), NOW_S), "the token is too long");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_times),
        cmocka_unit_test(test_audience),      cmocka_unit_test(test_damaged_tokens),
        cmocka_unit_test(test_forged_tokens), cmocka_unit_test(test_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
