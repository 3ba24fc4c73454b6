/* Tests HMAC-SHA256 against the published vectors of RFC 4231. */
#include "tls/tls.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_vectors(void **state)
{
    static const struct {
        const char *key, *data, *expected;
    } rows[] = {
        {"\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b",
         "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        {"Jefe", "what do ya want for nothing?",
         "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        unsigned char signature[TLS_HMAC_SIZE];
        char text[2 * TLS_HMAC_SIZE + 1];
        struct err err = ERR_INIT;
        assert_int_equal(tls_hmac(rows[i].key, strlen(rows[i].key), rows[i].data,
                                  strlen(rows[i].data), signature, &err),
                         0);
        for (size_t j = 0; j < TLS_HMAC_SIZE; j++)
            snprintf(text + 2 * j, 3, "%02x", signature[j]);
        assert_string_equal(text, rows[i].expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
