/* Tests credential plugins with real commands: their environment, which answers are accepted, and
 * the error if a plugin fails. Also tests renewals in virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "base/system/file.h"
#include "kube/client/exec_plugin.h"
#include "kube/client/exec_renewal.h"
#include "loop/sim/sim_loop.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define V1      "client.authentication.k8s.io/v1"
#define HEAD    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":"
#define GOOD(t) HEAD "{\"token\":\"" t "\"}}"

struct shell {
    struct exec_plugin plugin;
    char *args[3];
    char *env[2];
};

/* Makes a plugin from a shell script. */
static const struct exec_plugin *shell(struct shell *shell, const char *script)
{
    *shell = (struct shell){
        .plugin = {.api_version = V1, .command = "sh", .interactive = EXEC_NEVER},
        .args = {(char *)"-c", (char *)script, NULL},
        .env = {(char *)"ADDED=from the kubeconfig", NULL},
    };
    shell->plugin.args = shell->args;
    shell->plugin.env = shell->env;
    return &shell->plugin;
}

static void answers_are_accepted_or_rejected(void **state)
{
    static const struct {
        const char *text, *word; /* NULL: accepted */
    } CASES[] = {
        {GOOD("abc"), NULL},
        {HEAD "{\"clientCertificateData\":\"C\",\"clientKeyData\":\"K\"}}", NULL},
        {HEAD "{\"token\":\"a\",\"expirationTimestamp\":\"2030-01-02T03:04:05Z\"}}", NULL},
        {"", "did not print an ExecCredential"},
        {"token", "did not print an ExecCredential"},
        {"[]", "instead of an ExecCredential"},
        {"{\"kind\":\"Token\",\"apiVersion\":\"" V1 "\"}", "printed the kind 'Token'"},
        {"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "beta1\"}", "v1beta1' instead of"},
        {HEAD "null}", "neither a token nor"},
        {HEAD "{}}", "neither a token nor"},
        {HEAD "{\"token\":7}}", "neither a token nor"},
        {HEAD "{\"token\":\"a\\nb\"}}", "several lines"},
        {HEAD "{\"token\":\"a\",\"clientKeyData\":\"K\"}}", "without its key"},
        {HEAD "{\"clientCertificateData\":\"C\"}}", "without its key"},
        {HEAD "{\"token\":\"a\",\"expirationTimestamp\":\"soon\"}}",
         "'soon', which is not a valid time"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct arena *arena = arena_new();
        struct shell plugin;
        struct exec_credential credential;
        struct err err = ERR_INIT;
        int result = exec_credential_parse(arena, shell(&plugin, ""), CASES[i].text,
                                           strlen(CASES[i].text), &credential, &err);
        assert_int_equal(result == 0, !CASES[i].word);
        if (CASES[i].word && (!strstr(err.message, CASES[i].word) || !strstr(err.message, "'sh'")))
            fail_msg("%s: %s", CASES[i].text, err.message);
        if (i == 2)
            assert_int_equal(credential.expires_ms, 1893553445000);
        else if (!CASES[i].word)
            assert_int_equal(credential.expires_ms, INT64_MAX);
        arena_free(arena);
    }
}

static void a_plugin_gets_its_environment_and_no_input(void **state)
{
    struct arena *arena = arena_new();
    struct shell plugin;
    struct exec_credential credential;
    struct err err = ERR_INIT;
    /* The plugin's variables override those of this process. It has no input, and all its output is
     * read. */
    setenv("ADDED", "from the process", 1);
    const char *script = "[ \"$ADDED\" = 'from the kubeconfig' ] || exit 1\n"
                         "case $KUBERNETES_EXEC_INFO in *'\"interactive\":false'*) ;; *) exit 2 ;; "
                         "esac\n[ -n \"$PATH\" ] || exit 3\n! read line || exit 4\n"
                         "echo >&2 words that nobody needs\n"
                         "printf '%100000s' ' '; echo '" GOOD("abc") "'";
    if (exec_plugin_run(arena, shell(&plugin, script), true, -1, &credential, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(credential.token, "abc");
    assert_null(credential.cert_pem);
    arena_free(arena);
}

static void a_failure_names_plugin_exit_code_and_hint(void **state)
{
    static const struct {
        const char *script, *says;
    } CASES[] = {
        {"echo first >&2; echo 'no session: log in' >&2; echo >&2; exit 3",
         "credential plugin 'sh' ended with exit code 3: no session: log in; get it from us"},
        {"exit 1", "ended with exit code 1; get it from us"},
        {"kill -9 $$", "ended with signal 9"},
        {"i=0; while [ $i -lt 3000 ]; do echo 'a line that is not the last one' >&2; i=$((i+1)); "
         "done; echo last >&2; exit 1",
         "exit code 1: last;"},
        {"printf '\\033[31mred' >&2; exit 1", ":  [31mred"},
        {"head -c 2000000 /dev/zero", "printed more than 1048576 bytes"},
        {"head -c 1048577 /dev/zero", "printed more than 1048576 bytes"},
        {"exit 0", "did not print an ExecCredential"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct arena *arena = arena_new();
        struct shell plugin;
        struct exec_credential credential;
        struct err err = ERR_INIT;
        shell(&plugin, CASES[i].script);
        plugin.plugin.install_hint = "get it from us";
        assert_true(exec_plugin_run(arena, &plugin.plugin, false, -1, &credential, &err) < 0);
        if (!strstr(err.message, CASES[i].says))
            fail_msg("%s: %s", CASES[i].script, err.message);
        assert_null(strchr(err.message, '\033'));
        arena_free(arena);
    }
    struct arena *arena = arena_new();
    struct shell plugin;
    struct exec_credential credential;
    struct err err = ERR_INIT;
    shell(&plugin, "");
    plugin.plugin.command = "there-is-no-such-login";
    assert_int_equal(exec_plugin_run(arena, &plugin.plugin, false, -1, &credential, &err),
                     -ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "'there-is-no-such-login' was not found; install it"));
    plugin.plugin.install_hint = "get it from us";
    exec_plugin_run(arena, &plugin.plugin, false, -1, &credential, &err);
    assert_non_null(strstr(err.message, "was not found: get it from us"));
    plugin.plugin.interactive = EXEC_ALWAYS;
    assert_int_equal(exec_plugin_run(arena, &plugin.plugin, false, -1, &credential, &err),
                     -ERR_UNAUTHORIZED);
    assert_non_null(strstr(err.message, "needs a terminal"));
    arena_free(arena);
}

/* A child of the plugin that keeps the pipes open must not block us, and a plugin that hangs can be
 * canceled. */
static void children_of_a_plugin_are_not_waited_for(void **state)
{
    struct arena *arena = arena_new();
    struct shell plugin;
    struct exec_credential credential;
    struct err err = ERR_INIT;
    char script[200];
    int pids[2];
    assert_int_equal(pipe(pids), 0);
    snprintf(script, sizeof(script), "sleep 1000 & echo $! >&%d; echo '%s'", pids[1], GOOD("abc"));
    assert_int_equal(exec_plugin_run(arena, shell(&plugin, script), false, -1, &credential, &err),
                     0);
    assert_string_equal(credential.token, "abc");
    char text[32] = "";
    assert_true(read(pids[0], text, sizeof(text) - 1) > 0);
    assert_int_equal(kill(atoi(text), SIGKILL), 0);
    int cancel = eventfd(1, 0);
    assert_int_equal(
        exec_plugin_run(arena, shell(&plugin, "sleep 1000"), false, cancel, &credential, &err),
        -ERR_CANCELED);
    close(cancel);
    close(pids[0]);
    close(pids[1]);
    arena_free(arena);
}

/* ---- renewals, in virtual time --------------------------------------------------------------- */

enum { START_S = 1700000000 };

struct world {
    struct loop *loop;
    char path[64]; /* the file in which the plugin counts its runs */
    char script[500];
    struct shell shell;
    struct exec_renewal *renewal;
    char token[32]; /* the last token */
    char failure[ERR_MESSAGE_MAX];
    int renewed, failed;
};

static void on_renewed(void *context, const struct exec_credential *credential,
                       const struct err *err)
{
    struct world *world = context;
    if (credential) {
        world->renewed++;
        snprintf(world->token, sizeof(world->token), "%s", credential->token);
    } else {
        world->failed++;
        snprintf(world->failure, sizeof(world->failure), "%s", err->message);
    }
}

static int setup(void **state)
{
    static struct world world;
    world = (struct world){.path = "/tmp/trainyard-test-XXXXXX"};
    close(mkstemp(world.path));
    world.loop = sim_loop_new(1, (int64_t)START_S * 1000);
    *state = &world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    exec_renewal_free(world->renewal);
    loop_run(world->loop);
    loop_free(world->loop);
    unlink(world->path);
    return 0;
}

/* The plugin returns tokens 1, 2, 3, …, each with this expiry. */
static void begin(struct world *world, const char *expires, int64_t first_expires_s)
{
    snprintf(world->script, sizeof(world->script),
             "echo >>%s; n=$(wc -l <%s); [ $n != 3 ] || { echo the third fails >&2; exit 9; }\n"
             "echo '" HEAD "{\"token\":\"'$n'\"%s}}'",
             world->path, world->path, expires);
    shell(&world->shell, world->script);
    world->renewal =
        exec_renewal_new(world->loop, &world->shell.plugin,
                         first_expires_s ? (START_S + first_expires_s) * INT64_C(1000) : INT64_MAX,
                         on_renewed, world);
}

static void run_to(struct world *world, int64_t second)
{
    sim_loop_run_for(world->loop, (START_S + second) * INT64_C(1000) - loop_wall_ms(world->loop));
}

static void a_credential_is_renewed_before_it_expires(void **state)
{
    struct world *world = *state;
    /* 2023-11-14T23:13:20Z is START_S + 3600. */
    begin(world, ",\"expirationTimestamp\":\"2023-11-14T23:13:20Z\"", 1000);
    run_to(world, 939);
    assert_int_equal(world->renewed, 0);
    run_to(world, 941);
    assert_int_equal(world->renewed, 1);
    assert_string_equal(world->token, "1");
    run_to(world, 3539);
    assert_int_equal(world->renewed, 1);
    /* The expiry is the same and near: the next run is after a fifth of the time left. */
    run_to(world, 3541);
    assert_int_equal(world->renewed, 2);
    assert_int_equal(world->failed, 0);
    run_to(world, 3600); /* the third run fails and is retried */
    assert_true(world->failed == 1 && world->renewed >= 3);
    assert_string_equal(world->failure,
                        "credential plugin 'sh' ended with exit code 9: the third fails");
}

static void a_rejected_token_is_renewed_but_not_repeatedly(void **state)
{
    struct world *world = *state;
    begin(world, "", 0);
    run_to(world, 1000); /* the token never expires */
    assert_int_equal(world->renewed, 0);
    exec_renewal_rejected(world->renewal);
    exec_renewal_rejected(world->renewal);
    run_to(world, 1001);
    assert_int_equal(world->renewed, 1);
    /* The new token is rejected, too: the next run is delayed. */
    exec_renewal_rejected(world->renewal);
    run_to(world, 1004);
    assert_int_equal(world->renewed, 1);
    run_to(world, 1006);
    assert_int_equal(world->renewed, 2);
}

static void a_renewal_may_be_freed_while_it_waits(void **state)
{
    struct world *world = *state;
    begin(world, "", 0);
    exec_renewal_rejected(world->renewal);
    world->renewal = exec_renewal_free(world->renewal);
    run_to(world, 100);
    assert_int_equal(world->renewed + world->failed, 0);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_accepted_or_rejected),
        cmocka_unit_test(a_plugin_gets_its_environment_and_no_input),
        cmocka_unit_test(a_failure_names_plugin_exit_code_and_hint),
        cmocka_unit_test(children_of_a_plugin_are_not_waited_for),
        TEST(a_credential_is_renewed_before_it_expires),
        TEST(a_rejected_token_is_renewed_but_not_repeatedly),
        TEST(a_renewal_may_be_freed_while_it_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
