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

enum exec_interactive { EXEC_IF_AVAILABLE, EXEC_NEVER, EXEC_ALWAYS };

struct exec_plugin {
    const char *api_version; /* "client.authentication.k8s.io/v1" or "…/v1beta1" */
    const char *command;     /* a path, or a name that is searched in $PATH */
    char **args;             /* arguments without the command; ends with NULL */
    char **env;              /* "NAME=value", added to this process's environment; ends with NULL */
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
 * the kubeconfig. Errors do not name the file; the caller adds it. */
int exec_plugin_read(struct arena *arena, const char *path, const struct json *exec,
                     const struct json *cluster, struct exec_plugin **ret, struct err *err);

/* Returns the value of KUBERNETES_EXEC_INFO for the plugin, in the arena. */
char *exec_plugin_info(struct arena *arena, const struct exec_plugin *plugin, bool interactive);

/* Parses the standard output of the plugin. */
int exec_credential_parse(struct arena *arena, const struct exec_plugin *plugin, const char *text,
                          size_t size, struct exec_credential *ret, struct err *err);

enum { EXEC_TIMEOUT_MS = 60 * 1000 }; /* for a plugin that does not use the terminal */

/* Runs the plugin and waits for it. Blocks, so it must not run on a loop thread. `asks`: if
 * standard input is a terminal and interactiveMode is not Never, the plugin uses standard input and
 * standard error of this process. The plugin is killed when `cancel_fd` (-1: none) becomes
 * readable. If the plugin exits with an error, `err` names the plugin, its exit status, its last
 * line on standard error and the install hint. */
int exec_plugin_run(struct arena *arena, const struct exec_plugin *plugin, bool asks, int cancel_fd,
                    struct exec_credential *ret, struct err *err);

#endif
