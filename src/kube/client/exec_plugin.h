/* Credential plugins: a command of the kubeconfig that prints a token or a client certificate
 * (client.authentication.k8s.io), as clouds' logins do. What it is told and what it answers is
 * exec_credential.c's, running it exec_plugin.c's, and running it again in time
 * exec_renewal.h's. */
#ifndef TRAINYARD_KUBE_EXEC_PLUGIN_H
#define TRAINYARD_KUBE_EXEC_PLUGIN_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;

enum exec_interactive { EXEC_IF_AVAILABLE, EXEC_NEVER, EXEC_ALWAYS };

struct exec_plugin {
    const char *api_version;    /* "client.authentication.k8s.io/v1" */
    const char *command;        /* a path, or a name to be looked for in $PATH */
    char **args;                /* without the command; ends with NULL */
    char **env;                 /* "NAME=value", more than ours; ends with NULL */
    const char *install_hint;   /* how to get the command; or NULL */
    const struct json *cluster; /* what it is told of the cluster; NULL: it does not ask */
    enum exec_interactive interactive;
};

/* A token, or a certificate and its key, or all. */
struct exec_credential {
    const char *token, *cert_pem, *key_pem;
    int64_t expires_ms; /* Unix time; INT64_MAX: never */
};

/* The field `exec` of a user, whose kubeconfig is `path`. `cluster` is the kubeconfig's entry.
 * Errors leave the file to the caller, who knows the place. */
int exec_plugin_read(struct arena *arena, const char *path, const struct json *exec,
                     const struct json *cluster, struct exec_plugin **ret, struct err *err);

/* KUBERNETES_EXEC_INFO: what the plugin is told. */
char *exec_plugin_info(struct arena *arena, const struct exec_plugin *plugin, bool interactive);

/* What it printed. */
int exec_credential_parse(struct arena *arena, const struct exec_plugin *plugin, const char *text,
                          size_t size, struct exec_credential *ret, struct err *err);

enum { EXEC_TIMEOUT_MS = 60 * 1000 }; /* for one that talks with nobody */

/* Run it and wait: blocks, so never on a loop's thread. `asks`: standard input and error may be a
 * user's terminal. `cancel_fd` (or -1): once it is readable the plugin is killed. An error names
 * the plugin, how it ended, its last line and how to get it. */
int exec_plugin_run(struct arena *arena, const struct exec_plugin *plugin, bool asks, int cancel_fd,
                    struct exec_credential *ret, struct err *err);

#endif
