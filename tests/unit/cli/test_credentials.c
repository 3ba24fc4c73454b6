/* Tests credentials: created once, kept, and created again if an older program left out names. */
#include "cli/trainyard/credentials.h"

#include "base/mem.h"
#include "base/system/file.h"
#include "tls/tls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct state_dir make_state(struct arena *arena)
{
    char path[] = "/tmp/trainyard-credentials.XXXXXX";
    struct state_dir state;
    struct err err = ERR_INIT;
    assert_non_null(mkdtemp(path));
    assert_int_equal(state_dir_resolve(arena, path, &state, &err), 0);
    assert_int_equal(state_dir_make(&state, &err), 0);
    return state;
}

static void credentials_are_created_once(void **state_)
{
    static const char *const HOSTS[] = {
        "localhost",  "127.0.0.1",          "127.0.0.3",
        "10.244.0.1", "10.96.0.1",          "kubernetes.default.svc.cluster.local",
        "kubernetes", "kubernetes.default", "kubernetes.default.svc",
        "::1",        "127.0.0.64",         "kubernetes.docker.internal",
        NULL};
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct state_dir state = make_state(arena);
    struct credentials first, second;
    struct err err = ERR_INIT;
    bool complete = false;
    assert_int_equal(credentials_load(arena, &state, &first, &err), 0);
    assert_int_equal(credentials_load(arena, &state, &second, &err), 0);
    assert_string_equal(first.cert_pem, second.cert_pem);
    assert_string_equal(first.token, second.token);
    assert_int_equal(tls_cert_names_all(first.cert_pem, HOSTS, &complete, &err), 0);
    assert_true(complete);
    file_remove_tree(state.path, NULL);
}

static void write_text(struct arena *arena, const char *directory, const char *name,
                       const char *text)
{
    assert_int_equal(file_write_atomic(arena_printf(arena, "%s/%s", directory, name), text,
                                       strlen(text), 0600, NULL),
                     0);
}

static void outdated_certificate_is_replaced(void **state_)
{
    static const char *const HOSTS[] = {"localhost", "127.0.0.1", "::1", NULL};
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct state_dir state = make_state(arena);
    struct credentials first, second, third;
    struct tls_pair ca = {0}, old = {0};
    struct err err = ERR_INIT;
    assert_int_equal(credentials_load(arena, &state, &first, &err), 0);
    assert_int_equal(tls_make_ca("old", 1, &ca, &err), 0);
    assert_int_equal(tls_make_cert(&ca, "old", HOSTS, 1, &old, &err), 0);
    write_text(arena, state.pki, "ca.crt", ca.cert_pem);
    write_text(arena, state.pki, "server.crt", old.cert_pem);
    write_text(arena, state.pki, "server.key", old.key_pem);
    assert_int_equal(credentials_load(arena, &state, &second, &err), 0);
    assert_string_not_equal(second.cert_pem, old.cert_pem);
    assert_string_not_equal(second.ca_pem, ca.cert_pem);
    assert_string_equal(second.token, first.token);
    /* A damaged file is returned as it is. Its user reports the error. */
    write_text(arena, state.pki, "server.crt", "damaged");
    assert_int_equal(credentials_load(arena, &state, &third, &err), 0);
    assert_string_equal(third.cert_pem, "damaged");
    tls_pair_release(&ca);
    tls_pair_release(&old);
    file_remove_tree(state.path, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(credentials_are_created_once),
                                       cmocka_unit_test(outdated_certificate_is_replaced)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
