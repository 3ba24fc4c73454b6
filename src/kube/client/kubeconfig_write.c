/* Writes kubeconfigs; see kubeconfig.h. */
#include "kube/client/kubeconfig.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/json/json.h"
#include "base/json/yaml.h"
#include "base/str.h"
#include "base/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_SIZE_MAX = 4 << 20 };

static struct json *add_entry(struct arena *arena, struct json *document, const char *what,
                              const char *name)
{
    struct json *list = json_ensure_array(arena, document, arena_printf(arena, "%ss", what));
    struct json *entry = json_object(arena);
    json_append(list, entry);
    json_set_string(arena, entry, "name", name);
    return json_ensure_object(arena, entry, what);
}

static void set_data(struct arena *arena, struct json *object, const char *name, const char *pem)
{
    if (pem)
        json_set_string(arena, object, name, base64_encode(arena, pem, strlen(pem)));
}

/* Returns the namespace that the user chose in the existing file (`kubectl config set-context`), if
 * the file is for the same cluster (has the same token). Another cluster may not have that
 * namespace. Otherwise returns the namespace of `config`. */
static const char *namespace_to_write(struct arena *arena, const char *path, const char *name,
                                      const struct kubeconfig *config)
{
    struct kubeconfig before;
    if (kubeconfig_read(arena, path, name, &before, NULL) == 0 && config->token &&
        str_eq(before.token, config->token))
        return before.namespace_;
    return config->namespace_;
}

/* Overwrites an existing file in place, as kubectl does, unless it has this text and mode 0600
 * already. In pods, another file may be mounted over this file, and rename() would remove that
 * mount. */
static int write_over(const char *path, const struct buf *text, struct err *err)
{
    _cleanup_buf_ struct buf before;
    struct stat info;
    buf_init(&before, FILE_SIZE_MAX);
    if (file_read(path, &before, NULL) == 0 && before.size == text->size &&
        memcmp(before.data, text->data, text->size) == 0 && stat(path, &info) == 0 &&
        (info.st_mode & 0777) == 0600)
        return 0;
    _cleanup_fd_ int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || fchmod(fd, 0600) < 0)
        return err_set_errno(err, errno, "cannot write '%s'", path);
    int result = file_write_all(fd, text->data, text->size, err);
    if (result == 0 && (ftruncate(fd, (off_t)text->size) < 0 || fsync(fd) < 0))
        result = err_set_errno(err, errno, "cannot write '%s'", path);
    return result;
}

int kubeconfig_write(const char *path, const char *name, const struct kubeconfig *config,
                     struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *document = json_object(arena);
    json_set_string(arena, document, "apiVersion", "v1");
    json_set_string(arena, document, "kind", "Config");

    struct json *cluster = add_entry(arena, document, "cluster", name);
    json_set_string(arena, cluster, "server", config->server);
    set_data(arena, cluster, "certificate-authority-data", config->ca_pem);
    if (config->insecure)
        json_set_bool(arena, cluster, "insecure-skip-tls-verify", true);

    struct json *user = add_entry(arena, document, "user", name);
    if (config->token)
        json_set_string(arena, user, "token", config->token);
    set_data(arena, user, "client-certificate-data", config->cert_pem);
    set_data(arena, user, "client-key-data", config->key_pem);

    struct json *context = add_entry(arena, document, "context", name);
    json_set_string(arena, context, "cluster", name);
    json_set_string(arena, context, "user", name);
    const char *namespace_ = namespace_to_write(arena, path, name, config);
    if (!str_is_empty(namespace_))
        json_set_string(arena, context, "namespace", namespace_);
    json_set_string(arena, document, "current-context", name);

    _cleanup_buf_ struct buf text;
    buf_init(&text, FILE_SIZE_MAX);
    yaml_write(document, &text);
    if (text.overflowed)
        return err_set(err, ERR_TOO_LARGE,
                       "cannot write kubeconfig '%s': it would be longer than %d bytes", path,
                       (int)FILE_SIZE_MAX);
    int result = file_exists(path) ? write_over(path, &text, err)
                                   : file_write_atomic(path, text.data, text.size, 0600, err);
    if (result < 0)
        err_wrap(err, "kubeconfig");
    return result;
}
