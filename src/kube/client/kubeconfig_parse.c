/* Parses kubeconfigs; see kubeconfig.h. Pure: the files that a kubeconfig names are not read, only
 * their paths are returned. */
#include "base/base64.h"
#include "base/json/json.h"
#include "base/json/yaml.h"
#include "base/str.h"
#include "kube/client/exec_plugin.h"
#include "kube/client/kubeconfig.h"
#include "net/http/http.h"

#include <stdarg.h>
#include <string.h>

/* A kubeconfig text and its parsed form. */
struct file {
    struct source source;
    const struct json *document;
};

struct reading {
    struct arena *arena;
    struct file *files;
    size_t count;
    const struct source *source; /* the file of the entry that is being read */
    struct err *err;
};

/* Reports an error at `where` in the current file (NULL: about the whole file). */
static __attribute__((format(printf, 4, 5))) int refuse(struct reading *reading, enum err_code code,
                                                        const struct json *where,
                                                        const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)err_vset(reading->err, code, format, args);
    va_end(args);
    if (where)
        (void)source_err_wrap(reading->err, reading->source, source_value_place(where));
    else
        (void)err_wrap(reading->err, "'%s'", reading->source->name);
    (void)err_wrap(reading->err, "kubeconfig");
    return -(int)code;
}
#define refuse(...) ERR_IS_NEGATIVE(refuse(__VA_ARGS__))

/* Returns the path of a file that the current kubeconfig names relative to its own directory. */
static const char *kubeconfig_relative_path(struct reading *reading, const char *path)
{
    const char *slash = strrchr(reading->source->name, '/');
    if (*path == '/' || !slash)
        return path;
    return arena_printf(reading->arena, "%.*s/%s", (int)(slash - reading->source->name),
                        reading->source->name, path);
}

/* Finds the first entry called `name` in the lists that are called `what` plus "s", and returns its
 * member `what`. An entry of the list `clusters` is {name, cluster: {…}}. The file of the entry
 * becomes the current file. `reference` is the value that refers to the entry, or NULL. */
static int find_entry(struct reading *reading, const char *what, const char *name,
                      const struct json *reference, const struct json **ret)
{
    const char *list = arena_printf(reading->arena, "%ss", what);
    for (size_t i = 0; i < reading->count; i++) {
        JSON_EACH (entry, json_get(reading->files[i].document, list)) {
            const struct json *found = json_get(entry, what);
            if (!str_eq(json_get_string(entry, "name", NULL), name) || !found ||
                found->type != JSON_OBJECT)
                continue;
            reading->source = &reading->files[i].source;
            *ret = found;
            return 0;
        }
    }
    return refuse(reading, ERR_NOT_FOUND, reference, "there is no %s named '%.200s'", what, name);
}

/* Decodes the field `name`-data (base64) into *ret. If it is missing, *ret_path is the path in the
 * field `name`. An output without a value is NULL. */
static int read_pem(struct reading *reading, const struct json *object, const char *name,
                    const char **ret, const char **ret_path)
{
    const char *data_name = arena_printf(reading->arena, "%s-data", name);
    const char *data = json_get_string(object, data_name, "");
    const char *path = json_get_string(object, name, "");
    char *text = NULL;
    int result = 0;
    struct err why = ERR_INIT;
    if (*data)
        result = base64_decode(reading->arena, data, &text, NULL, &why);
    if (result < 0)
        return refuse(reading, why.code, json_get(object, data_name), "%s: %s", data_name,
                      why.message);
    *ret = text;
    *ret_path = *path && !*data ? kubeconfig_relative_path(reading, path) : NULL;
    return 0;
}

/* Returns NULL if the member is missing or empty. */
static const char *read_string(const struct json *object, const char *name)
{
    const char *text = json_get_string(object, name, "");
    return *text ? text : NULL;
}

/* Returns the value at which an error about the member is reported: the member, or the object
 * itself if the member is missing. */
static const struct json *member_or(const struct json *object, const char *name)
{
    const struct json *member = json_get(object, name);
    return member ? member : object;
}

/* ---- clusters -------------------------------------------------------------------------------- */

static bool is_proxy(const char *url)
{
    return str_has_prefix(url, "http://") || str_has_prefix(url, "https://") ||
           str_has_prefix(url, "socks5://");
}

static int read_cluster(struct reading *reading, const struct json *cluster,
                        struct kubeconfig *config)
{
    config->server = json_get_string(cluster, "server", "");
    config->server_name = read_string(cluster, "tls-server-name");
    config->proxy = read_string(cluster, "proxy-url");
    config->insecure = json_get_bool(cluster, "insecure-skip-tls-verify", false);
    if (!str_has_prefix(config->server, "https://") && !str_has_prefix(config->server, "http://"))
        return refuse(reading, ERR_INVALID, member_or(cluster, "server"),
                      "the server '%.100s' must begin with https:// or http://", config->server);
    if (config->proxy && !is_proxy(config->proxy))
        return refuse(reading, ERR_INVALID, member_or(cluster, "proxy-url"),
                      "the proxy-url '%.100s' must begin with http://, https:// or socks5://",
                      config->proxy);
    int result =
        read_pem(reading, cluster, "certificate-authority", &config->ca_pem, &config->ca_file);
    if (result == 0 && config->insecure && (config->ca_pem || config->ca_file))
        return refuse(reading, ERR_INVALID, member_or(cluster, "insecure-skip-tls-verify"),
                      "a cluster has both insecure-skip-tls-verify and a certificate authority; "
                      "remove one");
    return result;
}

/* ---- users ----------------------------------------------------------------------------------- */

/* Reads the user to impersonate ("as" and related fields) as header lines. */
static int read_impersonation(struct reading *reading, const struct json *user,
                              struct kubeconfig *config)
{
    struct http_header *headers = NULL;
    const char *as = read_string(user, "as"), *uid = read_string(user, "as-uid");
    if (as)
        http_header_add(reading->arena, &headers, "Impersonate-User", as);
    if (uid)
        http_header_add(reading->arena, &headers, "Impersonate-Uid", uid);
    JSON_EACH (group, json_get(user, "as-groups"))
        if (json_text(group))
            http_header_add(reading->arena, &headers, "Impersonate-Group", json_text(group));
    JSON_EACH (extra, json_get(user, "as-user-extra"))
        JSON_EACH (value, extra)
            if (json_text(value))
                http_header_add(reading->arena, &headers,
                                arena_printf(reading->arena, "Impersonate-Extra-%s", extra->name),
                                json_text(value));
    if (headers && !as)
        return refuse(reading, ERR_INVALID, user,
                      "as-uid, as-groups and as-user-extra need 'as', the user's name");
    config->as = headers;
    return 0;
}

static int read_exec(struct reading *reading, const struct json *user, const struct json *cluster,
                     struct kubeconfig *config)
{
    const struct json *exec = json_get(user, "exec");
    struct exec_plugin *plugin;
    struct err why = ERR_INIT;
    if (!exec || exec->type == JSON_NULL)
        return 0;
    if (exec_plugin_read(reading->arena, reading->source->name, exec, cluster, &plugin, &why) < 0)
        return refuse(reading, why.code, exec, "exec: %s", why.message);
    bool has_credential =
        config->token || config->token_file || config->cert_pem || config->cert_file;
    if (!has_credential) /* inline credentials take precedence */
        config->exec = plugin;
    return 0;
}

static int read_user(struct reading *reading, const struct json *user, const struct json *cluster,
                     struct kubeconfig *config)
{
    const struct json *provider = json_get(user, "auth-provider");
    if (provider && provider->type != JSON_NULL)
        return refuse(reading, ERR_UNSUPPORTED, provider,
                      "'auth-provider' is not supported (kubectl removed it in 1.26); use 'exec', "
                      "a token or a client certificate");
    const char *token_file = json_get_string(user, "tokenFile", "");
    if (*token_file)
        config->token_file = kubeconfig_relative_path(reading, token_file);
    else
        config->token = read_string(user, "token");
    config->username = read_string(user, "username");
    config->password = read_string(user, "password");
    if (config->username && (config->token || config->token_file))
        return refuse(reading, ERR_INVALID, member_or(user, "username"),
                      "a user has both a token and a user name; remove one");
    if (config->password && !config->username)
        return refuse(reading, ERR_INVALID, member_or(user, "password"),
                      "a user has a password but no user name");
    int result =
        read_pem(reading, user, "client-certificate", &config->cert_pem, &config->cert_file);
    if (result == 0)
        result = read_pem(reading, user, "client-key", &config->key_pem, &config->key_file);
    if (result < 0)
        return result;
    if ((config->cert_pem || config->cert_file) != (config->key_pem || config->key_file))
        return refuse(reading, ERR_INVALID, user,
                      "a client certificate and its key must both be set, but one is missing");
    result = read_impersonation(reading, user, config);
    return result < 0 ? result : read_exec(reading, user, cluster, config);
}

/* ---- contexts -------------------------------------------------------------------------------- */

/* Returns the value of current-context in the first file that has one, which becomes the current
 * file; NULL if no file has one. */
static const struct json *current_context(struct reading *reading)
{
    for (size_t i = 0; i < reading->count; i++) {
        reading->source = &reading->files[i].source;
        if (read_string(reading->files[i].document, "current-context"))
            return json_get(reading->files[i].document, "current-context");
    }
    reading->source = &reading->files[0].source;
    return NULL;
}

static int read_context(struct reading *reading, const char *name, const struct json *reference,
                        struct kubeconfig *config)
{
    const struct json *context, *cluster, *user;
    int result = find_entry(reading, "context", name, reference, &context);
    if (result < 0)
        return result;
    config->context = name;
    config->path = reading->source->name;
    config->namespace_ = read_string(context, "namespace");
    if (!config->namespace_)
        config->namespace_ = "default";
    const struct source *source =
        reading->source; /* the context's file; its cluster and user may be in other files */
    result = find_entry(reading, "cluster", json_get_string(context, "cluster", ""),
                        member_or(context, "cluster"), &cluster);
    if (result == 0)
        result = read_cluster(reading, cluster, config);
    const char *user_name = json_get_string(context, "user", "");
    if (result < 0 || *user_name == '\0')
        return result; /* no user: the server decides what an anonymous client may do */
    reading->source = source;
    result = find_entry(reading, "user", user_name, json_get(context, "user"), &user);
    config->path = reading->source->name; /* errors about the credential name this file */
    return result < 0 ? result : read_user(reading, user, cluster, config);
}

static int kubeconfig_parse_text(struct reading *reading, const struct source *source)
{
    struct json *documents = NULL;
    struct file *file = &reading->files[reading->count];
    file->source = *source;
    file->source.secret = true;
    reading->source = &file->source;
    int result = yaml_parse(reading->arena, &file->source, NULL, &documents, reading->err);
    if (result < 0) {
        err_wrap(reading->err, "kubeconfig");
        return result;
    }
    if (json_count(documents) != 1)
        return refuse(reading, ERR_INVALID, NULL,
                      "it has %zu YAML documents, but must have exactly one",
                      json_count(documents));
    file->document = json_first(documents);
    reading->count++;
    return 0;
}

int kubeconfig_parse(struct arena *arena, const struct source *texts, size_t count,
                     const char *context, struct kubeconfig *ret, struct err *err)
{
    struct kubeconfig config = {.expires_ms = INT64_MAX};
    struct reading reading = {
        .arena = arena,
        .files = arena_alloc(arena, count * sizeof(struct file)),
        .err = err,
    };
    if (count == 0)
        return err_set(err, ERR_NOT_FOUND, "no kubeconfig was given");
    for (size_t i = 0; i < count; i++) {
        int result = kubeconfig_parse_text(&reading, &texts[i]);
        if (result < 0)
            return result;
    }
    const struct json *reference = NULL;
    if (str_is_empty(context)) {
        reference = current_context(&reading);
        context = json_text(reference);
    } else {
        reading.source = &reading.files[0].source;
    }
    if (!context)
        return refuse(&reading, ERR_NOT_FOUND, NULL,
                      "it has no current-context: set one, or name a context with --context");
    int result = read_context(&reading, arena_strdup(arena, context), reference, &config);
    if (result == 0)
        *ret = config;
    return result;
}
