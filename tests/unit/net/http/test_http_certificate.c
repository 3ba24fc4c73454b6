/* Tests client certificates whose files are renewed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/http/certificate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct world {
    char directory[64], cert_path[96], key_path[96];
    struct tls_pair ca, one, two;
    struct http_certificate certificate;
};

static void write_file(const char *path, const char *text)
{
    assert_int_equal(file_replace(path, text, strlen(text), 0600, NULL), 0);
}

static void write_pair(struct world *world, const struct tls_pair *pair)
{
    write_file(world->cert_path, pair->cert_pem);
    write_file(world->key_path, pair->key_pem);
}

static void expect(struct world *world, int64_t now_ms, const struct tls_pair *pair)
{
    const struct tls_pair *shown = http_certificate_get(&world->certificate, now_ms);
    assert_string_equal(shown->cert_pem, pair->cert_pem);
    assert_string_equal(shown->key_pem, pair->key_pem);
}

static int setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    snprintf(world->directory, sizeof(world->directory), "/tmp/certificate.XXXXXX");
    assert_non_null(mkdtemp(world->directory));
    snprintf(world->cert_path, sizeof(world->cert_path), "%s/cert", world->directory);
    snprintf(world->key_path, sizeof(world->key_path), "%s/key", world->directory);
    assert_int_equal(tls_make_ca("ca", 1, &world->ca, NULL), 0);
    assert_int_equal(tls_make_cert(&world->ca, "one", NULL, 1, &world->one, NULL), 0);
    assert_int_equal(tls_make_cert(&world->ca, "two", NULL, 1, &world->two, NULL), 0);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    http_certificate_release(&world->certificate);
    http_certificate_release(&world->certificate); /* a second release is harmless */
    tls_pair_release(&world->ca);
    tls_pair_release(&world->one);
    tls_pair_release(&world->two);
    file_remove_tree(world->directory, NULL);
    free(world);
    return 0;
}

static void a_certificate_without_files_is_constant(void **state)
{
    struct world *world = *state;
    http_certificate_init(&world->certificate, &world->one, NULL, NULL);
    expect(world, 0, &world->one);
    expect(world, 60000, &world->one);
    http_certificate_release(&world->certificate);
    http_certificate_init(&world->certificate, &(struct tls_pair){0}, NULL, NULL);
    assert_null(http_certificate_get(&world->certificate, 0)->cert_pem);
}

static void changed_files_are_read_again_after_a_delay(void **state)
{
    struct world *world = *state;
    write_pair(world, &world->one);
    http_certificate_init(&world->certificate, &world->one, world->cert_path, world->key_path);
    expect(world, 1000, &world->one);
    write_pair(world, &world->two);
    expect(world, 1001, &world->one);
    expect(world, 60000, &world->two);
}

static void a_rejected_certificate_is_read_again_at_once(void **state)
{
    struct world *world = *state;
    write_pair(world, &world->one);
    http_certificate_init(&world->certificate, &world->one, world->cert_path, world->key_path);
    expect(world, 1000, &world->one);
    write_pair(world, &world->two);
    http_certificate_mark_rejected(&world->certificate);
    expect(world, 1001, &world->two);
}

/* The two files cannot be renewed at the same moment, so a certificate may not match its key for a
 * while. */
static void a_certificate_without_its_key_is_not_used(void **state)
{
    struct world *world = *state;
    write_pair(world, &world->one);
    http_certificate_init(&world->certificate, &world->one, world->cert_path, world->key_path);
    expect(world, 0, &world->one);
    write_file(world->cert_path, world->two.cert_pem);
    expect(world, 10000, &world->one);
    write_file(world->key_path, world->two.key_pem);
    expect(world, 20000, &world->two);
    write_file(world->key_path, world->one.key_pem);
    expect(world, 30000, &world->two);
}

static void unreadable_files_keep_the_certificate(void **state)
{
    static const char LOCKED[] = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
                                 "MIG=\n-----END ENCRYPTED PRIVATE KEY-----\n";
    struct world *world = *state;
    http_certificate_init(&world->certificate, &world->one, world->cert_path, world->key_path);
    expect(world, 0, &world->one); /* the files do not exist yet */
    write_file(world->cert_path, "");
    write_file(world->key_path, world->two.key_pem);
    expect(world, 10000, &world->one);
    write_file(world->cert_path, world->two.cert_pem);
    write_file(world->key_path, LOCKED);
    expect(world, 20000, &world->one);
    unlink(world->key_path);
    expect(world, 30000, &world->one);
    write_file(world->key_path, world->two.key_pem);
    expect(world, 40000, &world->two);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_certificate_without_files_is_constant),
        TEST(changed_files_are_read_again_after_a_delay),
        TEST(a_rejected_certificate_is_read_again_at_once),
        TEST(a_certificate_without_its_key_is_not_used),
        TEST(unreadable_files_keep_the_certificate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
