/* Kubeconfigs: read as kubectl reads them, written so that kubectl can. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "kube/kubeconfig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct world {
    char directory[64];
    struct arena *arena;
};

static char *path_of(struct world *world, const char *name)
{
    return arena_printf(world->arena, "%s/%s", world->directory, name);
}

static const char *put(struct world *world, const char *name, const char *text)
{
    char *path = path_of(world, name);
    assert_int_equal(file_write_atomic(path, text, strlen(text), 0600, NULL), 0);
    return path;
}

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    strcpy(world->directory, "/tmp/trainyard-test-XXXXXX");
    if (!world || !mkdtemp(world->directory))
        return -1;
    world->arena = arena_new();
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    file_remove_tree(world->directory, NULL);
    arena_free(world->arena);
    free(world);
    return 0;
}

static void reads_what_it_writes(void **state)
{
    struct world *world = *state;
    const char *path = path_of(world, "kubeconfig");
    struct kubeconfig config = {.server = "https://127.0.0.1:6443",
                                .ca_pem = "-----BEGIN\nCA\n",
                                .cert_pem = "cert",
                                .key_pem = "key",
                                .token = "yes: no # token",
                                .namespace_ = "team"},
                      back;
    struct err err = ERR_INIT;
    assert_int_equal(kubeconfig_write(path, "trainyard", &config, &err), 0);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    if (kubeconfig_read(world->arena, path, NULL, &back, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(back.server, config.server);
    assert_string_equal(back.ca_pem, config.ca_pem);
    assert_string_equal(back.cert_pem, config.cert_pem);
    assert_string_equal(back.key_pem, config.key_pem);
    assert_string_equal(back.token, config.token);
    assert_string_equal(back.namespace_, "team");
    assert_string_equal(back.context, "trainyard");
    assert_null(back.token_file);
    assert_false(back.insecure);
}

/* `kubectl config set-context --current --namespace` writes into this file. */
static void keeps_the_namespace_that_was_chosen(void **state)
{
    static const char CHOSEN[] = "current-context: trainyard\n"
                                 "clusters: [{name: trainyard, cluster: {server: 'https://a:1'}}]\n"
                                 "contexts: [{name: trainyard, context: {cluster: trainyard, "
                                 "user: trainyard, namespace: mine}}]\n"
                                 "users: [{name: trainyard, user: {token: t}}]\n";
    static const struct {
        const char *before, *token, *namespace_;
    } CASES[] = {
        {CHOSEN, "t", "mine"},
        {CHOSEN, "another cluster's", "default"}, /* which may not have that namespace */
        {"no kubeconfig", "t", "default"},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        const char *path = put(world, "kubeconfig", CASES[i].before);
        struct kubeconfig config = {.server = "https://127.0.0.1:2",
                                    .token = CASES[i].token,
                                    .namespace_ = "default"},
                          back;
        assert_int_equal(kubeconfig_write(path, "trainyard", &config, NULL), 0);
        assert_int_equal(kubeconfig_read(world->arena, path, NULL, &back, NULL), 0);
        assert_string_equal(back.namespace_, CASES[i].namespace_);
        assert_string_equal(back.server, config.server);
        assert_string_equal(back.token, config.token);
    }
}

static const char TWO[] = "apiVersion: v1\n"
                          "kind: Config\n"
                          "current-context: one\n"
                          "clusters:\n"
                          "- name: c1\n"
                          "  cluster: {server: 'https://one:6443', certificate-authority: ca.pem}\n"
                          "- name: c2\n"
                          "  cluster:\n"
                          "    server: http://two:8080\n"
                          "    insecure-skip-tls-verify: true\n"
                          "contexts:\n"
                          "- name: one\n"
                          "  context: {cluster: c1, user: u1}\n"
                          "- name: two\n"
                          "  context: {cluster: c2, namespace: ns}\n"
                          "users:\n"
                          "- name: u1\n"
                          "  user:\n"
                          "    token: ignored\n"
                          "    tokenFile: token\n"
                          "    client-certificate: cert.pem\n"
                          "    client-key-data: a2V5\n";

static void reads_what_others_wrote(void **state)
{
    struct world *world = *state;
    struct kubeconfig config;
    struct err err = ERR_INIT;
    const char *path = put(world, "config", TWO);
    put(world, "ca.pem", "CA");
    put(world, "cert.pem", "CERT");
    put(world, "token", "  secret\n");
    if (kubeconfig_read(world->arena, path, NULL, &config, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(config.server, "https://one:6443");
    assert_string_equal(config.ca_pem, "CA");
    assert_string_equal(config.cert_pem, "CERT");
    assert_string_equal(config.key_pem, "key");
    assert_null(config.cert_file); /* the key could not follow */
    assert_string_equal(config.token, "secret");
    assert_string_equal(config.token_file, path_of(world, "token"));
    assert_string_equal(config.namespace_, "default");
    assert_int_equal(kubeconfig_read(world->arena, path, "two", &config, NULL), 0);
    assert_string_equal(config.server, "http://two:8080");
    assert_string_equal(config.namespace_, "ns");
    assert_true(config.insecure);
    assert_null(config.token);
    assert_null(config.ca_pem);
}

#define REST(cluster, user)                                                                        \
    "current-context: x\ncontexts: [{name: x, context: {cluster: x, user: x}}]\n"                  \
    "clusters: [{name: x, cluster: " cluster "}]\nusers: [{name: x, user: " user "}]\n"

static void refuses(void **state)
{
    static const struct {
        const char *text;
        enum err_code code;
        const char *word; /* in the message */
    } CASES[] = {
        {"", ERR_INVALID, "0 documents"},
        {"a: [", ERR_BAD_REQUEST, "config"},
        {"a: 1", ERR_NOT_FOUND, "current-context"},
        {"current-context: x", ERR_NOT_FOUND, "no context is called 'x'"},
        {"current-context: x\ncontexts: [{name: x, context: {cluster: none}}]", ERR_NOT_FOUND,
         "no cluster is called 'none'"},
        {REST("{server: 'https://a'}, extra: 1", "5"), ERR_NOT_FOUND, "no user is called 'x'"},
        {REST("{server: 'ftp://a'}", "{}"), ERR_INVALID, "ftp://a"},
        {REST("{}", "{}"), ERR_INVALID, "https://"},
        {REST("{server: 'https://a', certificate-authority-data: '*'}", "{}"), ERR_BAD_REQUEST,
         "certificate-authority-data"},
        {REST("{server: 'https://a', certificate-authority: missing.pem}", "{}"), ERR_NOT_FOUND,
         "missing.pem"},
        {REST("{server: 'https://a', insecure-skip-tls-verify: true, "
              "certificate-authority-data: YQ==}",
              "{}"),
         ERR_INVALID, "both"},
        {REST("{server: 'https://a', tls-server-name: b}", "{}"), ERR_UNSUPPORTED,
         "tls-server-name"},
        {REST("{server: 'https://a'}", "{exec: {command: gcloud}}"), ERR_UNSUPPORTED, "exec"},
        {REST("{server: 'https://a'}", "{username: a, password: b}"), ERR_UNSUPPORTED, "username"},
        {REST("{server: 'https://a'}", "{client-key-data: YQ==}"), ERR_INVALID, "certificate"},
        {REST("{server: 'https://a'}", "{tokenFile: none}"), ERR_NOT_FOUND, "tokenFile"},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct kubeconfig config;
        struct err err = ERR_INIT;
        const char *path = put(world, "config", CASES[i].text);
        int result = kubeconfig_read(world->arena, path, NULL, &config, &err);
        if (result != -(int)CASES[i].code || !strstr(err.message, CASES[i].word))
            fail_msg("%s: %d %s", CASES[i].text, result, err.message);
    }
    struct kubeconfig config;
    assert_int_equal(kubeconfig_read(world->arena, path_of(world, "nowhere"), NULL, &config, NULL),
                     -ERR_NOT_FOUND);
}

static void tells_where_certificates_come_from(void **state)
{
    struct world *world = *state;
    struct kubeconfig config;
    put(world, "cert.pem", "CERT");
    put(world, "key.pem", "KEY");
    const char *path =
        put(world, "config",
            REST("{server: 'https://a'}", "{client-certificate: cert.pem, client-key: key.pem}"));
    assert_int_equal(kubeconfig_read(world->arena, path, NULL, &config, NULL), 0);
    assert_string_equal(config.key_pem, "KEY");
    assert_string_equal(config.cert_file, path_of(world, "cert.pem"));
    assert_string_equal(config.key_file, path_of(world, "key.pem"));
    path = put(world, "config",
               REST("{server: 'https://a'}",
                    "{client-certificate: cert.pem, client-certificate-data: YQ==, client-key: "
                    "key.pem}"));
    assert_int_equal(kubeconfig_read(world->arena, path, NULL, &config, NULL), 0);
    assert_string_equal(config.cert_pem, "a"); /* data goes before a file */
    assert_null(config.cert_file);
    assert_null(config.key_file);
}

/* Which credential it is, and where. */
static void tells_the_way_out_of_a_refusal(void **state)
{
    static const struct {
        const char *user, *words[2];
    } CASES[] = {
        {"{token: a, client-certificate-data: YQ==, client-key-data: YQ==}",
         {"the token of the context 'x'", "start again"}},
        {"{tokenFile: token}", {"/token', which", "read again by itself"}},
        {"{client-certificate-data: YQ==, client-key-data: YQ==}",
         {"client certificate", "start again"}},
        {"{client-certificate: token, client-key: token}",
         {"/token', which", "read again by themselves"}},
        {"{}", {"no token and no client certificate", "another context"}},
    };
    struct world *world = *state;
    struct kubeconfig config;
    put(world, "token", "t");
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        const char *path =
            put(world, "config",
                arena_printf(world->arena, REST("{server: 'https://a'}", "%s"), CASES[i].user));
        assert_int_equal(kubeconfig_read(world->arena, path, NULL, &config, NULL), 0);
        const char *text = kubeconfig_refusal_text(world->arena, &config);
        for (size_t j = 0; j < 2; j++)
            if (!strstr(text, CASES[i].words[j]) || !strstr(text, path))
                fail_msg("%s: %s", CASES[i].user, text);
    }
    put(world, "ca.crt", "CA");
    assert_int_equal(
        kubeconfig_read_service_account(world->arena, world->directory, "h", "1", &config, NULL),
        0);
    const char *text = kubeconfig_refusal_text(world->arena, &config);
    assert_non_null(strstr(text, path_of(world, "token")));
    assert_non_null(strstr(text, "delete this pod"));
}

static void reads_a_service_account(void **state)
{
    struct world *world = *state;
    struct kubeconfig config;
    assert_int_equal(kubeconfig_read_service_account(world->arena, world->directory, "10.0.0.1",
                                                     "443", &config, NULL),
                     -ERR_NOT_FOUND);
    put(world, "token", "t\n");
    put(world, "ca.crt", "CA");
    assert_int_equal(kubeconfig_read_service_account(world->arena, world->directory, "10.0.0.1",
                                                     "443", &config, NULL),
                     0);
    assert_string_equal(config.server, "https://10.0.0.1:443");
    assert_string_equal(config.token, "t");
    assert_string_equal(config.ca_pem, "CA");
    assert_string_equal(config.namespace_, "default");
    put(world, "namespace", "kubeflow");
    assert_int_equal(kubeconfig_read_service_account(world->arena, world->directory, "fd00::1",
                                                     "443", &config, NULL),
                     0);
    assert_string_equal(config.server, "https://[fd00::1]:443");
    assert_string_equal(config.namespace_, "kubeflow");
    assert_int_equal(
        kubeconfig_read_service_account(world->arena, world->directory, NULL, "443", &config, NULL),
        -ERR_NOT_FOUND);
}

static void looks_where_kubectl_looks(void **state)
{
    struct world *world = *state;
    struct kubeconfig config;
    struct err err = ERR_INIT;
    setenv("HOME", world->directory, 1);
    unsetenv("KUBECONFIG");
    unsetenv("KUBERNETES_SERVICE_HOST");
    assert_int_equal(kubeconfig_find(world->arena, NULL, NULL, &config, &err), -ERR_NOT_FOUND);
    assert_int_equal(file_make_dirs(path_of(world, ".kube"), 0700, NULL), 0);
    put(world, ".kube/config", REST("{server: 'https://home'}", "{}"));
    assert_int_equal(kubeconfig_find(world->arena, NULL, NULL, &config, NULL), 0);
    assert_string_equal(config.server, "https://home");
    const char *other = put(world, "other", REST("{server: 'https://other'}", "{}"));
    setenv("KUBECONFIG", arena_printf(world->arena, "/nowhere::%s:/nowhere/too", other), 1);
    assert_int_equal(kubeconfig_find(world->arena, NULL, NULL, &config, NULL), 0);
    assert_string_equal(config.server, "https://other");
    const char *named = put(world, "named", REST("{server: 'https://named'}", "{}"));
    assert_int_equal(kubeconfig_find(world->arena, named, NULL, &config, NULL), 0);
    assert_string_equal(config.server, "https://named");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(reads_what_it_writes),
        TEST(keeps_the_namespace_that_was_chosen),
        TEST(reads_what_others_wrote),
        TEST(refuses),
        TEST(tells_where_certificates_come_from),
        TEST(tells_the_way_out_of_a_refusal),
        TEST(reads_a_service_account),
        TEST(looks_where_kubectl_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
