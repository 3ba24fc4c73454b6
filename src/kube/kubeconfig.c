/* Reading kubeconfigs; see kubeconfig.h. Writing them is in kubeconfig_write.c. */
#include "kube/kubeconfig.h"

#include "base/base64.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/yaml.h"

#include <string.h>

enum { FILE_SIZE_MAX = 4 << 20 };

static const char SERVICE_ACCOUNT[] = "/var/run/secrets/kubernetes.io/serviceaccount";

static int read_text(struct arena *arena, const char *path, const char **ret, struct err *err)
{
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, FILE_SIZE_MAX);
    int result = file_read(path, &buf, err);
    if (result < 0)
        return result;
    *ret = arena_strndup(arena, buf.data, buf.size);
    return 0;
}

/* A token's file ends with a newline as often as not. */
static int read_token(struct arena *arena, const char *path, const char **ret, struct err *err)
{
    const char *text = NULL;
    int result = read_text(arena, path, &text, err);
    if (result < 0)
        return result;
    const char *start = text + strspn(text, " \t\r\n");
    *ret = arena_strndup(arena, start, strcspn(start, " \t\r\n"));
    if (**ret == '\0')
        return err_set(err, ERR_INVALID, "'%s' holds no token", path);
    return 0;
}

/* ---- One file ---- */

struct reading {
    struct arena *arena;
    const char *path;
    struct err *err;
};

static const char *beside(struct reading *reading, const char *path)
{
    const char *slash = strrchr(reading->path, '/');
    if (*path == '/' || !slash)
        return path;
    return arena_printf(reading->arena, "%.*s/%s", (int)(slash - reading->path), reading->path,
                        path);
}

/* The member `what` of the entry called `name` in the list `what`s: {name, cluster: {…}}. */
static int find_entry(struct reading *reading, const struct json *document, const char *what,
                      const char *name, const struct json **ret)
{
    const char *list = arena_printf(reading->arena, "%ss", what);
    JSON_EACH (entry, json_get(document, list)) {
        if (!str_eq(json_get_string(entry, "name", NULL), name))
            continue;
        const struct json *found = json_get(entry, what);
        if (found && found->type == JSON_OBJECT) {
            *ret = found;
            return 0;
        }
    }
    return err_set(reading->err, ERR_NOT_FOUND, "kubeconfig '%s': no %s is called '%s'",
                   reading->path, what, name);
}

static int refuse_fields(struct reading *reading, const struct json *object,
                         const char *const *names, const char *advice)
{
    for (; *names; names++) {
        const struct json *value = json_get(object, *names);
        if (value && value->type != JSON_NULL && !str_eq(json_text(value), ""))
            return err_set(reading->err, ERR_UNSUPPORTED,
                           "kubeconfig '%s': '%s' is not supported; %s", reading->path, *names,
                           advice);
    }
    return 0;
}

/* The text of `name`-data (base64), or of the file that `name` names; NULL if neither is there.
 * `ret_path` (or NULL): the file, NULL where it is none. */
static int read_pem(struct reading *reading, const struct json *object, const char *name,
                    const char **ret, const char **ret_path)
{
    const char *data_name = arena_printf(reading->arena, "%s-data", name);
    const char *data = json_get_string(object, data_name, "");
    const char *path = json_get_string(object, name, "");
    *ret = NULL;
    int result = 0;
    if (*data) {
        char *text = NULL;
        result = base64_decode(reading->arena, data, &text, NULL, reading->err);
        *ret = text;
    } else if (*path) {
        path = beside(reading, path);
        result = read_text(reading->arena, path, ret, reading->err);
    }
    if (ret_path)
        *ret_path = *path && !*data ? path : NULL;
    if (result < 0)
        err_wrap(reading->err, "kubeconfig '%s': %s", reading->path, *data ? data_name : name);
    return result;
}

static int read_cluster(struct reading *reading, const struct json *cluster,
                        struct kubeconfig *config)
{
    static const char *const UNSUPPORTED[] = {"tls-server-name", "proxy-url", NULL};
    int result = refuse_fields(reading, cluster, UNSUPPORTED,
                               "use a server address that the certificate names, and the variable "
                               "https_proxy");
    if (result < 0)
        return result;
    config->server = json_get_string(cluster, "server", "");
    if (!str_has_prefix(config->server, "https://") && !str_has_prefix(config->server, "http://"))
        return err_set(reading->err, ERR_INVALID,
                       "kubeconfig '%s': the server '%.100s' begins with neither https:// nor "
                       "http://",
                       reading->path, config->server);
    config->insecure = json_get_bool(cluster, "insecure-skip-tls-verify", false);
    result = read_pem(reading, cluster, "certificate-authority", &config->ca_pem, NULL);
    if (result == 0 && config->insecure && config->ca_pem)
        return err_set(reading->err, ERR_INVALID,
                       "kubeconfig '%s': a cluster has both insecure-skip-tls-verify and a "
                       "certificate authority; remove one",
                       reading->path);
    return result;
}

static int read_user(struct reading *reading, const struct json *user, struct kubeconfig *config)
{
    static const char *const UNSUPPORTED[] = {"exec", "auth-provider", "username", "password", "as",
                                              NULL};
    int result = refuse_fields(reading, user, UNSUPPORTED, "use a token or a client certificate");
    if (result < 0)
        return result;
    const char *token = json_get_string(user, "token", "");
    const char *token_file = json_get_string(user, "tokenFile", "");
    if (*token_file) {
        config->token_file = beside(reading, token_file);
        result = read_token(reading->arena, config->token_file, &config->token, reading->err);
        if (result < 0) {
            err_wrap(reading->err, "kubeconfig '%s': tokenFile", reading->path);
            return result;
        }
    } else if (*token) {
        config->token = token;
    }
    result = read_pem(reading, user, "client-certificate", &config->cert_pem, &config->cert_file);
    if (result == 0)
        result = read_pem(reading, user, "client-key", &config->key_pem, &config->key_file);
    if (!config->cert_file || !config->key_file)
        config->cert_file = config->key_file = NULL;
    if (result == 0 && !config->cert_pem != !config->key_pem)
        return err_set(reading->err, ERR_INVALID,
                       "kubeconfig '%s': a client certificate and its key come together, and one "
                       "is missing",
                       reading->path);
    return result;
}

static int read_document(struct reading *reading, const struct json *document,
                         const char *context_name, struct kubeconfig *config)
{
    if (str_is_empty(context_name))
        context_name = json_get_string(document, "current-context", "");
    if (*context_name == '\0')
        return err_set(reading->err, ERR_NOT_FOUND,
                       "kubeconfig '%s': it has no current-context, and none was named",
                       reading->path);
    const struct json *context, *cluster, *user;
    int result = find_entry(reading, document, "context", context_name, &context);
    if (result < 0)
        return result;
    config->context = context_name;
    config->path = reading->path;
    config->namespace_ = json_get_string(context, "namespace", "");
    if (*config->namespace_ == '\0')
        config->namespace_ = "default";
    result =
        find_entry(reading, document, "cluster", json_get_string(context, "cluster", ""), &cluster);
    if (result == 0)
        result = read_cluster(reading, cluster, config);
    const char *user_name = json_get_string(context, "user", "");
    if (result < 0 || *user_name == '\0')
        return result; /* nobody in particular: the server decides what that may do */
    result = find_entry(reading, document, "user", user_name, &user);
    return result < 0 ? result : read_user(reading, user, config);
}

int kubeconfig_read(struct arena *arena, const char *path, const char *context,
                    struct kubeconfig *ret, struct err *err)
{
    struct reading reading = {arena, arena_strdup(arena, path), err};
    struct kubeconfig config = {0};
    struct json *documents = NULL;
    const char *text = NULL;
    int result = read_text(arena, path, &text, err);
    if (result == 0)
        result = yaml_parse(arena, path, text, strlen(text), NULL, &documents, err);
    if (result < 0) {
        err_wrap(err, "kubeconfig");
        return result;
    }
    if (json_count(documents) != 1)
        return err_set(err, ERR_INVALID, "kubeconfig '%s': it has %zu documents, not one", path,
                       json_count(documents));
    result = read_document(&reading, json_first(documents),
                           context ? arena_strdup(arena, context) : NULL, &config);
    if (result == 0)
        *ret = config;
    return result;
}

/* ---- Other sources ---- */

int kubeconfig_read_service_account(struct arena *arena, const char *directory, const char *host,
                                    const char *port, struct kubeconfig *ret, struct err *err)
{
    struct kubeconfig config = {.namespace_ = "default"};
    if (str_is_empty(host) || str_is_empty(port))
        return err_set(err, ERR_NOT_FOUND,
                       "service account: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are "
                       "not set, so this is no pod");
    /* An IPv6 address stands in brackets in a URL. */
    bool bare_ipv6 = strchr(host, ':') && *host != '[';
    config.server = arena_printf(arena, "https://%s%s%s:%s", bare_ipv6 ? "[" : "", host,
                                 bare_ipv6 ? "]" : "", port);
    config.token_file = arena_printf(arena, "%s/token", directory);
    int result = read_token(arena, config.token_file, &config.token, err);
    if (result == 0)
        result = read_text(arena, arena_printf(arena, "%s/ca.crt", directory), &config.ca_pem, err);
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

static const char *first_existing(struct arena *arena, const char *list)
{
    if (str_is_empty(list))
        return NULL;
    for (char **path = str_split(arena, list, ':', NULL); *path; path++)
        if (**path && file_exists(*path))
            return *path;
    return NULL;
}

int kubeconfig_find(struct arena *arena, const char *path, const char *context,
                    struct kubeconfig *ret, struct err *err)
{
    if (!str_is_empty(path))
        return kubeconfig_read(arena, path, context, ret, err);
    const char *home = getenv("HOME"), *host = getenv("KUBERNETES_SERVICE_HOST");
    path = first_existing(arena, getenv("KUBECONFIG"));
    if (!path && !str_is_empty(home)) {
        const char *usual = arena_printf(arena, "%s/.kube/config", home);
        path = file_exists(usual) ? usual : NULL;
    }
    if (path)
        return kubeconfig_read(arena, path, context, ret, err);
    if (!str_is_empty(host))
        return kubeconfig_read_service_account(arena, SERVICE_ACCOUNT, host,
                                               getenv("KUBERNETES_SERVICE_PORT"), ret, err);
    return err_set(err, ERR_NOT_FOUND,
                   "no kubeconfig: name one with --kubeconfig or KUBECONFIG, or start a cluster "
                   "here with 'trainyard up'");
}

/* ---- What to do where the server does not know us ---- */

const char *kubeconfig_refusal_text(struct arena *arena, const struct kubeconfig *config)
{
    const char *path = config->path;
    if (!path)
        return arena_printf(arena,
                            "the token of this pod's service account, '%s', is wrong or has "
                            "expired: make sure that the account is there ('kubectl get "
                            "serviceaccounts'), then delete this pod, so that the next one gets a "
                            "new token",
                            config->token_file);
    if (config->token_file)
        return arena_printf(arena,
                            "the token in '%s', which the kubeconfig '%s' names, is wrong or has "
                            "expired: write a valid one there, it is read again by itself",
                            config->token_file, path);
    if (config->token)
        return arena_printf(arena,
                            "the token of the context '%s' in the kubeconfig '%s' is wrong or has "
                            "expired: put a valid one there and start again",
                            config->context, path);
    if (config->cert_file)
        return arena_printf(arena,
                            "the client certificate '%s', which the kubeconfig '%s' names, has "
                            "expired or is of another cluster: write a valid one and its key "
                            "there, they are read again by themselves",
                            config->cert_file, path);
    if (config->cert_pem)
        return arena_printf(arena,
                            "the client certificate of the context '%s' in the kubeconfig '%s' has "
                            "expired or is of another cluster: put a valid one there and start "
                            "again",
                            config->context, path);
    return arena_printf(arena,
                        "the context '%s' of the kubeconfig '%s' has no token and no client "
                        "certificate: give its user one, or choose another context, and start "
                        "again",
                        config->context, path);
}
