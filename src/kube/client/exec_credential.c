/* Parses the `exec` field of a kubeconfig, makes the input of a credential plugin, and parses its
 * output; see exec_plugin.h. Pure. */
#include "base/json/json.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/client/exec_plugin.h"

#include <string.h>

enum { LIST_MAX = 1000 }; /* maximum number of arguments, and of environment variables */

/* ---- the kubeconfig's field ------------------------------------------------------------------ */

static int exec_credential_fail(const char *command, struct err *err, const char *what)
{
    return err_set(err, ERR_INVALID, "credential plugin '%.100s': %s", command, what);
}

static int read_args(struct arena *arena, const struct json *list, char ***ret)
{
    size_t count = 0;
    if (json_count(list) > LIST_MAX)
        return -1;
    char **args = arena_alloc(arena, (json_count(list) + 1) * sizeof(*args));
    JSON_EACH (item, list) {
        if (!json_text(item))
            return -1;
        args[count++] = arena_strdup(arena, json_text(item));
    }
    args[count] = NULL;
    *ret = args;
    return 0;
}

static int read_env(struct arena *arena, const struct json *list, char ***ret)
{
    size_t count = 0;
    if (json_count(list) > LIST_MAX)
        return -1;
    char **env = arena_alloc(arena, (json_count(list) + 1) * sizeof(*env));
    JSON_EACH (item, list) {
        const char *name = json_get_string(item, "name", "");
        if (!*name || strchr(name, '='))
            return -1;
        env[count++] = arena_printf(arena, "%s=%s", name, json_get_string(item, "value", ""));
    }
    env[count] = NULL;
    *ret = env;
    return 0;
}

static int read_interactive(const struct json *exec, bool required, enum exec_interactive *ret)
{
    static const char *const NAMES[] = {
        [EXEC_IF_AVAILABLE] = "IfAvailable", [EXEC_NEVER] = "Never", [EXEC_ALWAYS] = "Always"};
    const char *mode = json_get_string(exec, "interactiveMode", "");
    if (!*mode && !required)
        mode = NAMES[EXEC_IF_AVAILABLE];
    for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++)
        if (str_eq(mode, NAMES[i])) {
            *ret = (enum exec_interactive)i;
            return 0;
        }
    return -1;
}

/* Returns the command as it is started: a relative path with a '/' starts at the directory of the
 * kubeconfig, and a name without '/' is searched in $PATH. */
static const char *exec_credential_command_path(struct arena *arena, const char *path,
                                                const char *command)
{
    const char *slash = strrchr(path, '/');
    if (*command == '/' || !strchr(command, '/') || !slash)
        return command;
    return arena_printf(arena, "%.*s/%s", (int)(slash - path), path, command);
}

/* Returns the description of the cluster for plugins. It has the field names of the kubeconfig, but
 * no file paths. The field `config` comes from the kubeconfig's extension for plugins. */
static struct json *describe_cluster(struct arena *arena, const struct json *cluster)
{
    static const char *const KEPT[] = {"server", "tls-server-name", "insecure-skip-tls-verify",
                                       "certificate-authority-data", "proxy-url"};
    struct json *info = json_object(arena);
    for (size_t i = 0; i < ARRAY_SIZE(KEPT); i++) {
        const struct json *value = json_get(cluster, KEPT[i]);
        if (value)
            json_set(arena, info, KEPT[i], json_clone(arena, value));
    }
    JSON_EACH (extension, json_get(cluster, "extensions")) {
        const struct json *value = json_get(extension, "extension");
        if (str_eq(json_get_string(extension, "name", ""), "client.authentication.k8s.io/exec") &&
            value)
            json_set(arena, info, "config", json_clone(arena, value));
    }
    return info;
}

int exec_plugin_read(struct arena *arena, const char *path, const struct json *exec,
                     const struct json *cluster, struct exec_plugin **ret, struct err *err)
{
    struct exec_plugin plugin = {.api_version = json_get_string(exec, "apiVersion", "")};
    const char *command = json_get_string(exec, "command", "");
    const char *hint = json_get_string(exec, "installHint", "");
    bool v1 = str_eq(plugin.api_version, "client.authentication.k8s.io/v1");
    if (!*command)
        return err_set(err, ERR_INVALID, "it has no command");
    if (!v1 && !str_eq(plugin.api_version, "client.authentication.k8s.io/v1beta1"))
        return err_set(
            err, ERR_UNSUPPORTED,
            "credential plugin '%.100s' has the apiVersion '%.100s', which is not supported; set "
            "client.authentication.k8s.io/v1 or /v1beta1, or get a newer plugin",
            command, plugin.api_version);
    if (read_args(arena, json_get(exec, "args"), &plugin.args) < 0)
        return exec_credential_fail(command, err, "args must be a list of strings");
    if (read_env(arena, json_get(exec, "env"), &plugin.env) < 0)
        return exec_credential_fail(command, err, "env must be a list of name and value");
    if (read_interactive(exec, v1, &plugin.interactive) < 0)
        return exec_credential_fail(
            command, err,
            "interactiveMode must be Never, IfAvailable or Always, and is needed with v1");
    plugin.command = exec_credential_command_path(arena, path, command);
    plugin.install_hint = *hint ? hint : NULL;
    if (json_get_bool(exec, "provideClusterInfo", false))
        plugin.cluster = describe_cluster(arena, cluster);
    *ret = arena_alloc(arena, sizeof(plugin));
    **ret = plugin;
    return 0;
}

/* ---- the plugin's input ---------------------------------------------------------------------- */

char *exec_plugin_info(struct arena *arena, const struct exec_plugin *plugin, bool interactive)
{
    struct json *info = json_object(arena);
    json_set_string(arena, info, "kind", "ExecCredential");
    json_set_string(arena, info, "apiVersion", plugin->api_version);
    struct json *spec = json_ensure_object(arena, info, "spec");
    if (plugin->cluster)
        json_set(arena, spec, "cluster", json_clone(arena, plugin->cluster));
    json_set_bool(arena, spec, "interactive", interactive);
    return json_to_string(arena, info);
}

/* ---- the plugin's output --------------------------------------------------------------------- */

int exec_credential_parse(struct arena *arena, const struct exec_plugin *plugin, const char *text,
                          size_t size, struct exec_credential *ret, struct err *err)
{
    struct json *answer = NULL;
    struct err why = ERR_INIT;
    if (json_parse(arena, text, size, NULL, &answer, &why) < 0)
        return err_set(err, ERR_INVALID,
                       "credential plugin '%.200s' did not print an ExecCredential in JSON: %.200s",
                       plugin->command, why.message);
    const char *version = json_get_string(answer, "apiVersion", "");
    if (!str_eq(json_get_string(answer, "kind", ""), "ExecCredential") ||
        !str_eq(version, plugin->api_version))
        return err_set(err, ERR_INVALID,
                       "credential plugin '%.200s' printed the kind '%.100s' of '%.100s' instead "
                       "of an ExecCredential of '%s': set the apiVersion in the kubeconfig to the "
                       "one that the plugin prints",
                       plugin->command, json_get_string(answer, "kind", ""), version,
                       plugin->api_version);
    const struct json *status = json_get(answer, "status");
    const char *token = json_get_string(status, "token", "");
    const char *cert = json_get_string(status, "clientCertificateData", "");
    const char *key = json_get_string(status, "clientKeyData", "");
    const char *expires = json_get_string(status, "expirationTimestamp", "");
    struct exec_credential credential = {.expires_ms = INT64_MAX};
    if (!*token && !*cert)
        return err_set(err, ERR_INVALID,
                       "credential plugin '%.200s' gave neither a token nor a client certificate",
                       plugin->command);
    if (!*cert != !*key)
        return err_set(
            err, ERR_INVALID,
            "credential plugin '%.200s' gave a client certificate without its key, or a key alone",
            plugin->command);
    if (strpbrk(token, "\r\n"))
        return err_set(err, ERR_INVALID, "credential plugin '%.200s' gave a token of several lines",
                       plugin->command);
    if (*expires && moment_parse(expires, &credential.expires_ms, &why) < 0)
        return err_set(err, ERR_INVALID,
                       "credential plugin '%.200s' gave the expirationTimestamp '%.100s', which is "
                       "not a valid time",
                       plugin->command, expires);
    credential.token = *token ? token : NULL;
    credential.cert_pem = *cert ? cert : NULL;
    credential.key_pem = *key ? key : NULL;
    *ret = credential;
    return 0;
}
