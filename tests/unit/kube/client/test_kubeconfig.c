/* Tests kubeconfigs: read like kubectl reads them, and written so that kubectl can read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/system/file.h"
#include "kube/client/exec_plugin.h"
#include "kube/client/kubeconfig.h"
#include "net/http/http.h"

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

static void a_written_kubeconfig_is_read_back(void **state)
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
static void keeps_the_selected_namespace(void **state)
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
        {CHOSEN, "another cluster's", "default"}, /* another cluster may not have that namespace */
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

/* The file is overwritten in place, because pods have a bind mount of it. */
static void a_kubeconfig_is_written_in_place(void **state)
{
    struct world *world = *state;
    const char *path = put(world, "kubeconfig", "something much longer than a kubeconfig: ...");
    struct kubeconfig config = {.server = "https://127.0.0.1:2", .token = "t"}, back;
    struct stat before, after;
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(stat(path, &before), 0);
    for (int port = 3; port >= 1; port--) {
        config.server = port == 1 ? "https://h" : "https://127.0.0.1:64433";
        assert_int_equal(kubeconfig_write(path, "trainyard", &config, NULL), 0);
        assert_int_equal(kubeconfig_read(world->arena, path, NULL, &back, NULL), 0);
        assert_string_equal(back.server, config.server);
        assert_int_equal(stat(path, &after), 0);
        assert_int_equal(after.st_ino, before.st_ino);
        assert_int_equal(after.st_mode & 0777, 0600);
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

static void reads_kubeconfigs_of_other_tools(void **state)
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
    assert_null(config.cert_file); /* a single file could not include the key */
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

#define V1  "apiVersion: client.authentication.k8s.io/v1"
#define V1B "apiVersion: client.authentication.k8s.io/v1beta1"

static void rejects_invalid_kubeconfigs(void **state)
{
    static const struct {
        const char *text;
        enum err_code code;
        const char *word; /* expected in the message */
    } CASES[] = {
        {"", ERR_INVALID, "0 YAML documents"},
        {"a: [", ERR_BAD_REQUEST, "config"},
        {"a: 1", ERR_NOT_FOUND, "current-context"},
        {"current-context: x", ERR_NOT_FOUND, "there is no context named 'x'"},
        {"current-context: x\ncontexts: [{name: x, context: {cluster: none}}]", ERR_NOT_FOUND,
         "there is no cluster named 'none'"},
        {REST("{server: 'https://a'}, extra: 1", "5"), ERR_NOT_FOUND, "there is no user named 'x'"},
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
        {REST("{server: 'https://a', proxy-url: 'ftp://b'}", "{}"), ERR_INVALID, "ftp://b"},
        {REST("{server: 'https://a'}", "{auth-provider: {name: gcp}}"), ERR_UNSUPPORTED,
         "auth-provider"},
        {REST("{server: 'https://a'}", "{username: a, token: b}"), ERR_INVALID, "both a token"},
        {REST("{server: 'https://a'}", "{password: b}"), ERR_INVALID, "no user name"},
        {REST("{server: 'https://a'}", "{as-groups: [b]}"), ERR_INVALID, "need 'as'"},
        {REST("{server: 'https://a'}", "{exec: {}}"), ERR_INVALID, "it has no command"},
        {REST("{server: 'https://a'}", "{exec: {command: gcloud}}"), ERR_UNSUPPORTED,
         "'gcloud' has the apiVersion ''"},
        {REST("{server: 'https://a'}", "{exec: {command: c, interactiveMode: Never, apiVersion: "
                                       "client.authentication.k8s.io/v1alpha1}}"),
         ERR_UNSUPPORTED, "v1alpha1"},
        {REST("{server: 'https://a'}", "{exec: {command: c, " V1 "}}"), ERR_INVALID,
         "interactiveMode"},
        {REST("{server: 'https://a'}", "{exec: {command: c, " V1 ", interactiveMode: Often}}"),
         ERR_INVALID, "interactiveMode"},
        {REST("{server: 'https://a'}", "{exec: {command: c, " V1B ", args: [1]}}"), ERR_INVALID,
         "args"},
        {REST("{server: 'https://a'}", "{exec: {command: c, " V1B ", env: [{name: 'a=b'}]}}"),
         ERR_INVALID, "env"},
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

/* The message has the position and the line, but no credential, since it ends up in logs. */
static void errors_point_at_the_wrong_value(void **state)
{
    static const struct {
        const char *text, *message; /* the text after "kubeconfig: <path>" */
    } CASES[] = {
        {"users:\n- name: u\n  user:\n    token: s3cret: 4\n",
         ":4:18: mapping values are not allowed in this context\n"
         "        token: ******: *\n"
         "                     ^"},
        {"current-context: x\ncontexts:\n- name: x\n  context:\n    cluster: c\n",
         ":5:14: there is no cluster named 'c'\n"
         "        cluster: *\n"
         "                 ^"},
        {"current-context: nowhere\n", ":1:18: there is no context named 'nowhere'\n"
                                       "    current-context: *******\n"
                                       "                     ^"},
        {"current-context: x\ncontexts: [{name: x, context: {cluster: x, user: x}}]\n"
         "clusters: [{name: x, cluster: {server: 'https://a'}}]\n"
         "users:\n- name: x\n  user:\n    client-certificate-data: '!'\n",
         ":7:30: client-certificate-data: "},
        {REST("{server: 'https://a'}", "{exec: {command: c, " V1B ", args: [1]}}"),
         ":4:32: exec: credential plugin 'c': args must be a list of strings\n"},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct kubeconfig config;
        struct err err = ERR_INIT;
        const char *path = put(world, "config", CASES[i].text);
        assert_true(kubeconfig_read(world->arena, path, NULL, &config, &err) < 0);
        const char *wanted = arena_printf(world->arena, "kubeconfig: %s%s", path, CASES[i].message);
        if (strncmp(err.message, wanted, strlen(wanted)) != 0)
            fail_msg("'%s', not '%s'", err.message, wanted);
    }
}

/* Each limit and one past it: the file, and a plugin's arguments and variables. */
static void limits_hold_at_the_last_one(void **state)
{
    enum { FILE_MAX = 4 << 20, LIST_MAX = 1000 };
    struct world *world = *state;
    for (size_t more = 0; more <= 1; more++) {
        struct kubeconfig config;
        char *text = arena_alloc(world->arena, FILE_MAX + 2);
        memset(text, '#', FILE_MAX + more);
        memcpy(text, TWO, sizeof(TWO) - 1);
        text[FILE_MAX + more] = '\0';
        assert_int_equal(
            kubeconfig_read(world->arena, put(world, "config", text), "two", &config, NULL),
            more ? -ERR_TOO_LARGE : 0);

        _cleanup_buf_ struct buf args, env;
        buf_init(&args, 1 << 20);
        buf_init(&env, 1 << 20);
        for (size_t i = 0; i < LIST_MAX + more; i++) {
            buf_append_str(&args, "a, ");
            buf_append_str(&env, "{name: a}, ");
        }
        text = arena_printf(
            world->arena, REST("{server: 'https://a'}", "{exec: {command: c, " V1B ", %s: [%s]}}"),
            "args", args.data);
        assert_int_equal(
            kubeconfig_read(world->arena, put(world, "config", text), NULL, &config, NULL),
            more ? -ERR_INVALID : 0);
        text = arena_printf(
            world->arena, REST("{server: 'https://a'}", "{exec: {command: c, " V1B ", %s: [%s]}}"),
            "env", env.data);
        assert_int_equal(
            kubeconfig_read(world->arena, put(world, "config", text), NULL, &config, NULL),
            more ? -ERR_INVALID : 0);
    }
}

static void reads_every_field_of_a_plugin(void **state)
{
    static const char TEXT[] =
        REST("{server: 'https://a', certificate-authority-data: Q0E=, tls-server-name: b,\n"
             "  extensions: [{name: client.authentication.k8s.io/exec, extension: {zone: 7}}]}",
             "{exec: {command: bin/login, " V1 ", args: [get, token], env: [{name: A, value: b}],\n"
             "  installHint: 'ask the cloud', provideClusterInfo: true, interactiveMode: Never}}");
    struct world *world = *state;
    struct kubeconfig config;
    struct err err = ERR_INIT;
    if (kubeconfig_read(world->arena, put(world, "config", TEXT), NULL, &config, &err) < 0)
        fail_msg("%s", err.message);
    const struct exec_plugin *plugin = config.exec;
    assert_string_equal(plugin->command, path_of(world, "bin/login"));
    assert_string_equal(plugin->args[0], "get");
    assert_string_equal(plugin->args[1], "token");
    assert_null(plugin->args[2]);
    assert_string_equal(plugin->env[0], "A=b");
    assert_null(plugin->env[1]);
    assert_string_equal(plugin->install_hint, "ask the cloud");
    assert_int_equal(plugin->interactive, EXEC_NEVER);
    assert_string_equal(
        exec_plugin_info(world->arena, plugin, false),
        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"spec\":{"
        "\"cluster\":{\"server\":\"https://a\",\"tls-server-name\":\"b\","
        "\"certificate-authority-data\":\"Q0E=\",\"config\":{\"zone\":7}},\"interactive\":false}}");
    assert_non_null(strstr(kubeconfig_rejection_text(world->arena, &config), "bin/login"));
    /* A command without a slash is searched in $PATH. A token in the kubeconfig takes precedence
     * over a plugin. */
    put(world, "config", REST("{server: 'https://a'}", "{exec: {command: login, " V1B "}}"));
    assert_int_equal(kubeconfig_read(world->arena, path_of(world, "config"), NULL, &config, NULL),
                     0);
    assert_string_equal(config.exec->command, "login");
    assert_string_equal(exec_plugin_info(world->arena, config.exec, true),
                        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io"
                        "/v1beta1\",\"spec\":{\"interactive\":true}}");
    put(world, "config",
        REST("{server: 'https://a'}", "{token: t, exec: {command: login, " V1B "}}"));
    assert_int_equal(kubeconfig_read(world->arena, path_of(world, "config"), NULL, &config, NULL),
                     0);
    assert_null(config.exec);
}

static void a_plugin_is_run_for_its_credential(void **state)
{
    struct world *world = *state;
    struct kubeconfig config;
    struct err err = ERR_INIT;
    put(world, "login",
        "#!/bin/sh\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":"
        "\"client.authentication.k8s.io/v1beta1\",\"status\":{\"token\":\"'$1'\"}}'\n");
    assert_int_equal(chmod(path_of(world, "login"), 0700), 0);
    put(world, "config",
        REST("{server: 'https://a'}", "{exec: {command: ./login, args: [abc], " V1B "}}"));
    assert_int_equal(kubeconfig_read(world->arena, path_of(world, "config"), NULL, &config, NULL),
                     0);
    assert_null(config.token);
    if (kubeconfig_authenticate(world->arena, &config, false, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(config.token, "abc");
    put(world, "config", REST("{server: 'https://a'}", "{exec: {command: ./none, " V1B "}}"));
    assert_int_equal(kubeconfig_read(world->arena, path_of(world, "config"), NULL, &config, NULL),
                     0);
    assert_int_equal(kubeconfig_authenticate(world->arena, &config, false, &err), -ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, path_of(world, "config")));
}

static void reads_names_proxies_and_impersonation(void **state)
{
    static const char *const AS[][2] = {{"Impersonate-User", "ann"},
                                        {"Impersonate-Uid", "7"},
                                        {"Impersonate-Group", "a"},
                                        {"Impersonate-Group", "b"},
                                        {"Impersonate-Extra-scope", "c"}};
    struct world *world = *state;
    struct kubeconfig config;
    const char *path =
        put(world, "config",
            REST("{server: 'https://a', tls-server-name: b, proxy-url: 'socks5://c:1'}",
                 "{username: u, password: p, as: ann, as-uid: '7', as-groups: [a, b], "
                 "as-user-extra: {scope: [c]}}"));
    assert_int_equal(kubeconfig_read(world->arena, path, NULL, &config, NULL), 0);
    assert_string_equal(config.server_name, "b");
    assert_string_equal(config.proxy, "socks5://c:1");
    assert_string_equal(config.username, "u");
    assert_string_equal(config.password, "p");
    const struct http_header *header = config.as;
    for (size_t i = 0; i < sizeof(AS) / sizeof(AS[0]); i++, header = header->next) {
        assert_string_equal(header->name, AS[i][0]);
        assert_string_equal(header->value, AS[i][1]);
    }
    assert_null(header);
}

/* Several files are merged: the first current-context and the first entry of each name count.
 * Relative paths of an entry start at the entry's own file. */
static void several_files_are_merged(void **state)
{
    struct world *world = *state;
    struct kubeconfig config;
    struct err err = ERR_INIT;
    assert_int_equal(file_make_dirs(path_of(world, "two"), 0700, NULL), 0);
    const char *one =
        put(world, "one",
            "contexts: [{name: x, context: {cluster: c, user: u, namespace: first}}]\n"
            "clusters: [{name: c, cluster: {server: 'https://one'}}]\n");
    const char *two =
        put(world, "two/config",
            "current-context: x\n"
            "contexts: [{name: x, context: {cluster: c, user: u, namespace: second}}]\n"
            "clusters: [{name: c, cluster: {server: 'https://two'}}]\n"
            "users: [{name: u, user: {tokenFile: token}}]\n");
    put(world, "two/token", "t\n");
    setenv("KUBECONFIG", arena_printf(world->arena, "/nowhere:%s:%s", one, two), 1);
    if (kubeconfig_find(world->arena, NULL, NULL, &config, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(config.server, "https://one");
    assert_string_equal(config.namespace_, "first");
    assert_string_equal(config.token, "t");
    assert_string_equal(config.path, two); /* the file with the credential */
    put(world, "two/config", "a: [");
    assert_true(kubeconfig_find(world->arena, NULL, NULL, &config, &err) < 0);
    assert_non_null(strstr(err.message, two));
}

static void reports_the_source_of_certificates(void **state)
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
    assert_string_equal(config.cert_pem, "a"); /* data takes precedence over a file */
    assert_null(config.cert_file);
    assert_null(config.key_file);
}

/* The message names the credential and its file. */
static void errors_of_a_rejection_name_the_credential(void **state)
{
    static const struct {
        const char *user, *words[2];
    } CASES[] = {
        {"{token: a, client-certificate-data: YQ==, client-key-data: YQ==}",
         {"the token of the context 'x'", "start again"}},
        {"{tokenFile: token}", {"/token', which", "read again automatically"}},
        {"{client-certificate-data: YQ==, client-key-data: YQ==}",
         {"client certificate", "start again"}},
        {"{client-certificate: token, client-key: token}",
         {"/token', which", "read again automatically"}},
        {"{exec: {command: login, " V1B "}}", {"plugin 'login'", "run again automatically"}},
        {"{username: a}", {"password of the context 'x'", "start again"}},
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
        const char *text = kubeconfig_rejection_text(world->arena, &config);
        for (size_t j = 0; j < 2; j++)
            if (!strstr(text, CASES[i].words[j]) || !strstr(text, path))
                fail_msg("%s: %s", CASES[i].user, text);
    }
    put(world, "ca.crt", "CA");
    assert_int_equal(
        kubeconfig_read_service_account(world->arena, world->directory, "h", "1", &config, NULL),
        0);
    const char *text = kubeconfig_rejection_text(world->arena, &config);
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

static void searches_the_files_that_kubectl_searches(void **state)
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
        TEST(a_written_kubeconfig_is_read_back),
        TEST(keeps_the_selected_namespace),
        TEST(a_kubeconfig_is_written_in_place),
        TEST(reads_kubeconfigs_of_other_tools),
        TEST(rejects_invalid_kubeconfigs),
        TEST(errors_point_at_the_wrong_value),
        TEST(limits_hold_at_the_last_one),
        TEST(reads_every_field_of_a_plugin),
        TEST(a_plugin_is_run_for_its_credential),
        TEST(reads_names_proxies_and_impersonation),
        TEST(several_files_are_merged),
        TEST(reports_the_source_of_certificates),
        TEST(errors_of_a_rejection_name_the_credential),
        TEST(reads_a_service_account),
        TEST(searches_the_files_that_kubectl_searches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
