/* Runs credential plugins. A plugin is a command in the kubeconfig that prints a token or a client
 * certificate (client.authentication.k8s.io). Cloud providers use plugins for logins.
 * exec_credential.c makes the plugin's input and parses its output, exec_plugin.c runs it, and
 * exec_renewal.h runs it again before the credential expires. */
#ifndef TRAINYARD_KUBE_CLIENT_EXEC_PLUGIN_H
#define TRAINYARD_KUBE_CLIENT_EXEC_PLUGIN_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;

/* The field interactiveMode: whether the plugin uses the terminal. */
enum exec_interactive { EXEC_IF_AVAILABLE, EXEC_NEVER, EXEC_ALWAYS };

struct exec_plugin {
    const char *api_version; /* "client.authentication.k8s.io/v1" or "…/v1beta1" */
    const char *command;     /* a path, or a name that is searched in $PATH */
    char **args;             /* arguments without the command; ends with NULL */
    char **env; /* "NAME=value", added to the environment of this process; ends with NULL */
    const char *install_hint; /* how to install the command; or NULL */
    /* The description of the cluster for the plugin; NULL: provideClusterInfo is not set. */
    const struct json *cluster;
    enum exec_interactive interactive;
};

/* A token, a certificate with its key, or both. */
struct exec_credential {
    const char *token, *cert_pem, *key_pem;
    int64_t expires_ms; /* Unix time; INT64_MAX: never */
};

/* Reads the field `exec` of a user in the kubeconfig at `path`. `cluster` is the cluster's entry in
 * the kubeconfig. *ret is in the arena and uses the strings of `exec`. Errors do not name the file;
 * the caller adds its name. Returns 0, -ERR_INVALID, or -ERR_UNSUPPORTED for an unknown
 * apiVersion. */
int exec_plugin_read(struct arena *arena, const char *path, const struct json *exec,
                     const struct json *cluster, struct exec_plugin **ret, struct err *err);

/* Returns the value of KUBERNETES_EXEC_INFO for the plugin, in the arena. */
char *exec_plugin_info(struct arena *arena, const struct exec_plugin *plugin, bool interactive);

/* Parses the standard output of the plugin. The strings of *ret are in the arena. Returns 0 or
 * -ERR_INVALID. */
int exec_credential_parse(struct arena *arena, const struct exec_plugin *plugin, const char *text,
                          size_t size, struct exec_credential *ret, struct err *err);

enum { EXEC_TIMEOUT_MS = 60 * 1000 }; /* for a plugin that does not use the terminal */

/* Runs the plugin and waits for it. Blocks, so it must not run on a loop thread. `may_prompt`: if
 * standard input is a terminal and interactiveMode is not Never, the plugin reads the standard
 * input of this process, its standard error is copied to that of this process, and it has no time
 * limit. Returns
 * 0                  with the credential in *ret,
 * -ERR_CANCELED      if the plugin was killed because `cancel_fd` (-1: none) became readable,
 * -ERR_UNAUTHORIZED  if the plugin fails: `err` names its exit status, its last line on standard
 *                    error and the install hint; or if interactiveMode is Always but the plugin
 *                    cannot use a terminal,
 * or another negative code, such as -ERR_NOT_FOUND, -ERR_TIMEOUT or -ERR_INVALID. */
int exec_plugin_run(struct arena *arena, const struct exec_plugin *plugin, bool may_prompt,
                    int cancel_fd, struct exec_credential *ret, struct err *err);

#endif
