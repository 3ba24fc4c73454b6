/* Fuzzes the check of service account tokens. Each input is checked as it is, and again with a
 * valid signature, so that the payload is parsed as well. */
#include "base/base64.h"
#include "base/hash.h"
#include "engine/access/token.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static int fuzz_sign(void *context, const void *data, size_t size,
                     unsigned char ret[ENGINE_SIGNATURE_SIZE], struct err *err)
{
    const struct hash_key key = {{1, 2}};
    uint64_t part = hash_bytes(&key, data, size);
    for (size_t i = 0; i < ENGINE_SIGNATURE_SIZE; i += sizeof(part))
        memcpy(ret + i, &part, sizeof(part));
    return 0;
}

static void verify(struct arena *arena, const char *text)
{
    const struct engine_signer signer = {fuzz_sign, NULL};
    struct token_claims claims;
    struct err err;
    if (token_verify(arena, &signer, text, 1700000000, &claims, &err) == 0 &&
        (!claims.account || !claims.account_uid[0] || claims.expires_s <= 1700000000))
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 2 * TOKEN_MAX)
        return 0;
    struct arena *arena = arena_new();
    unsigned char signature[ENGINE_SIGNATURE_SIZE];
    char *text = arena_strndup(arena, (const char *)data, size);
    verify(arena, text);
    (void)fuzz_sign(NULL, text, strlen(text), signature, NULL);
    verify(arena, arena_printf(arena, "%s.%s", text,
                               base64_encode_url(arena, signature, sizeof(signature))));
    /* The input as the plain text of the payload, which mutations change in more interesting
     * ways. */
    static const char header[] = "{\"alg\":\"HS256\"}";
    char *sealed =
        arena_printf(arena, "%s.%s", base64_encode_url(arena, header, sizeof(header) - 1),
                     base64_encode_url(arena, text, strlen(text)));
    (void)fuzz_sign(NULL, sealed, strlen(sealed), signature, NULL);
    verify(arena, arena_printf(arena, "%s.%s", sealed,
                               base64_encode_url(arena, signature, sizeof(signature))));
    arena_free(arena);
    return 0;
}
