/* Finds kubeconfigs and reads the files that they name; see kubeconfig.h. kubeconfig_parse.c parses
 * kubeconfigs, and kubeconfig_write.c writes them. */
#include "kube/client/kubeconfig.h"

#include "base/source.h"
#include "base/str.h"
#include "base/system/file.h"
#include "kube/client/exec_plugin.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_SIZE_MAX = 4 << 20 };

static const char SERVICE_ACCOUNT[] = "/var/run/secrets/kubernetes.io/serviceaccount";

static int kubeconfig_read_file(struct arena *arena, const char *path, const char **ret,
                                struct err *err)
{
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, FILE_SIZE_MAX);
    int result = file_read(path, &buf, err);
    if (result < 0)
        return result;
    *ret = arena_strndup(arena, buf.data, buf.size);
    return 0;
}

/* Reads the first word of the file, because a token file may end with a newline. */
static int read_token(struct arena *arena, const char *path, const char **ret, struct err *err)
{
    const char *text = NULL;
    int result = kubeconfig_read_file(arena, path, &text, err);
    if (result < 0)
        return result;
    const char *start = text + strspn(text, " \t\r\n");
    *ret = arena_strndup(arena, start, strcspn(start, " \t\r\n"));
    if (**ret == '\0')
        return err_set(err, ERR_INVALID, "'%s' holds no token", path);
    return 0;
}

/* ---- Files ---- */

static int load_pem(struct arena *arena, const struct kubeconfig *config, const char *field,
                    const char *path, const char **pem, struct err *err)
{
    if (*pem || !path)
        return 0;
    int result = kubeconfig_read_file(arena, path, pem, err);
    if (result < 0)
        err_wrap(err, "kubeconfig '%s': %s", config->path, field);
    return result;
}

/* Reads the files that the kubeconfig names. */
static int load_files(struct arena *arena, struct kubeconfig *config, struct err *err)
{
    int result =
        load_pem(arena, config, "certificate-authority", config->ca_file, &config->ca_pem, err);
    if (result == 0)
        result = load_pem(arena, config, "client-certificate", config->cert_file, &config->cert_pem,
                          err);
    if (result == 0)
        result = load_pem(arena, config, "client-key", config->key_file, &config->key_pem, err);
    if (!config->cert_file || !config->key_file)
        config->cert_file = config->key_file = NULL;
    if (result < 0 || !config->token_file)
        return result;
    result = read_token(arena, config->token_file, &config->token, err);
    if (result < 0)
        err_wrap(err, "kubeconfig '%s': tokenFile", config->path);
    return result;
}

/* Reads the files at the paths. A missing file is an error if `all_must_exist` is set; otherwise it
 * is skipped. */
static int read_files(struct arena *arena, char *const *paths, size_t count, bool all_must_exist,
                      const char *context, struct kubeconfig *ret, struct err *err)
{
    struct source *texts = arena_alloc(arena, count * sizeof(*texts));
    struct kubeconfig config;
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const char *text = NULL;
        if (!all_must_exist && (!*paths[i] || !file_exists(paths[i])))
            continue;
        int result = kubeconfig_read_file(arena, paths[i], &text, err);
        if (result < 0) {
            err_wrap(err, "kubeconfig");
            return result;
        }
        texts[found++] = (struct source){arena_strdup(arena, paths[i]), text, strlen(text), true};
    }
    int result = kubeconfig_parse(arena, texts, found, context, &config, err);
    if (result == 0)
        result = load_files(arena, &config, err);
    if (result == 0)
        *ret = config;
    return result;
}

int kubeconfig_read(struct arena *arena, const char *path, const char *context,
                    struct kubeconfig *ret, struct err *err)
{
    char *paths[] = {arena_strdup(arena, path)};
    return read_files(arena, paths, 1, true, context, ret, err);
}

int kubeconfig_authenticate(struct arena *arena, struct kubeconfig *config, bool may_prompt,
                            struct err *err)
{
    struct exec_credential credential;
    if (!config->exec)
        return 0;
    int result = exec_plugin_run(arena, config->exec, may_prompt, -1, &credential, err);
    if (result < 0) {
        err_wrap(err, "kubeconfig '%s'", config->path);
        return result;
    }
    config->token = credential.token;
    config->cert_pem = credential.cert_pem;
    config->key_pem = credential.key_pem;
    config->expires_ms = credential.expires_ms;
    return 0;
}

/* ---- Other sources ---- */

int kubeconfig_read_service_account(struct arena *arena, const char *directory, const char *host,
                                    const char *port, struct kubeconfig *ret, struct err *err)
{
    struct kubeconfig config = {.namespace_ = "default"};
    if (str_is_empty(host) || str_is_empty(port))
        return err_set(err, ERR_NOT_FOUND,
                       "service account: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are "
                       "not set, so this process does not run in a pod");
    /* An IPv6 address stands in brackets in a URL. */
    bool bare_ipv6 = strchr(host, ':') && *host != '[';
    config.server = arena_printf(arena, "https://%s%s%s:%s", bare_ipv6 ? "[" : "", host,
                                 bare_ipv6 ? "]" : "", port);
    config.token_file = arena_printf(arena, "%s/token", directory);
    int result = read_token(arena, config.token_file, &config.token, err);
    if (result == 0)
        result = kubeconfig_read_file(arena, arena_printf(arena, "%s/ca.crt", directory),
                                      &config.ca_pem, err);
    if (result < 0) {
        err_wrap(err, "service account");
        return result;
    }
    const char *namespace_;
    if (read_token(arena, arena_printf(arena, "%s/namespace", directory), &namespace_, NULL) == 0)
        config.namespace_ = namespace_;
    *ret = config;
    return 0;
}

static bool any_exists(char *const *paths)
{
    for (; *paths; paths++)
        if (**paths && file_exists(*paths))
            return true;
    return false;
}

int kubeconfig_find(struct arena *arena, const char *path, const char *context,
                    struct kubeconfig *ret, struct err *err)
{
    if (!str_is_empty(path))
        return kubeconfig_read(arena, path, context, ret, err);
    const char *home = getenv("HOME"), *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *list = getenv("KUBECONFIG");
    size_t count = 0;
    char **paths = str_split(arena, list ? list : "", ':', &count);
    if (any_exists(paths))
        return read_files(arena, paths, count, false, context, ret, err);
    const char *usual = str_is_empty(home) ? NULL : arena_printf(arena, "%s/.kube/config", home);
    if (usual && file_exists(usual))
        return kubeconfig_read(arena, usual, context, ret, err);
    if (!str_is_empty(host))
        return kubeconfig_read_service_account(arena, SERVICE_ACCOUNT, host,
                                               getenv("KUBERNETES_SERVICE_PORT"), ret, err);
    return err_set(err, ERR_NOT_FOUND,
                   "no kubeconfig: name one with --kubeconfig or KUBECONFIG, or start a cluster "
                   "here with 'trainyard up'");
}

/* ---- Rejected credentials ---- */

const char *kubeconfig_rejection_text(struct arena *arena, const struct kubeconfig *config)
{
    const char *path = config->path;
    if (!path)
        return arena_printf(
            arena,
            "the token of this pod's service account, '%s', is wrong or has expired: make sure "
            "that the account exists ('kubectl get serviceaccounts'), then delete this pod, so "
            "that the next one gets a new token",
            config->token_file);
    if (config->token_file)
        return arena_printf(
            arena,
            "the token in '%s', which the kubeconfig '%s' names, is wrong or has expired: write a "
            "valid token into this file; it is read again automatically",
            config->token_file, path);
    if (config->exec)
        return arena_printf(
            arena,
            "the server rejects the credentials from the plugin '%s' of the kubeconfig '%s': log "
            "in again with the plugin; it is run again automatically",
            config->exec->command, path);
    if (config->username)
        return arena_printf(
            arena,
            "the user name or the password of the context '%s' in the kubeconfig '%s' is wrong, or "
            "the server does not accept passwords: correct them, or set a token, and start again",
            config->context, path);
    if (config->token)
        return arena_printf(arena,
                            "the token of the context '%s' in the kubeconfig '%s' is wrong or has "
                            "expired: put a valid one there and start again",
                            config->context, path);
    if (config->cert_file)
        return arena_printf(
            arena,
            "the client certificate '%s', which the kubeconfig '%s' names, has expired or belongs "
            "to another cluster: replace it and its key; the files are read again automatically",
            config->cert_file, path);
    if (config->cert_pem)
        return arena_printf(
            arena,
            "the client certificate of the context '%s' in the kubeconfig '%s' has expired or "
            "belongs to another cluster: put a valid one there and start again",
            config->context, path);
    return arena_printf(arena,
                        "the context '%s' of the kubeconfig '%s' has no token and no client "
                        "certificate: give its user one, or choose another context, and start "
                        "again",
                        config->context, path);
}
