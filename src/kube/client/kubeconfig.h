/* Reads the address and the credentials of a cluster from a kubeconfig or from a pod's service
 * account, and writes a kubeconfig for `trainyard up`. An existing kubeconfig is never edited but
 * replaced as a whole, so `trainyard up` writes a separate file by default. Callers copy the fields
 * into struct http_client_options. */
#ifndef TRAINYARD_KUBE_CLIENT_KUBECONFIG_H
#define TRAINYARD_KUBE_CLIENT_KUBECONFIG_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exec_plugin;
struct http_header;
struct source;

struct kubeconfig {
    const char *server;             /* "https://127.0.0.1:6443" */
    const char *server_name;        /* the name in the server's certificate, if it differs from the
                                       server's host; or NULL */
    const char *proxy;              /* "http://proxy:3128"; NULL: the environment decides */
    const char *ca_pem;             /* NULL: the machine's trusted authorities */
    const char *ca_file;            /* the file of ca_pem, or NULL */
    const char *cert_pem, *key_pem; /* client certificate, or NULL */
    /* The files of certificate and key, to read them again; NULL if one of them is inline in the
     * kubeconfig. */
    const char *cert_file, *key_file;
    const char *token;               /* bearer token, or NULL */
    const char *token_file;          /* the file of the token, to read it again; or NULL */
    const char *username, *password; /* for basic authentication; or NULL */
    /* The plugin that prints the credential; NULL if there is none or the kubeconfig has a token or
     * a client certificate. */
    const struct exec_plugin *exec;
    /* When the credential of `exec` expires, as Unix time; INT64_MAX: never. */
    int64_t expires_ms;
    /* The "Impersonate-…" headers with the user that requests are made for; or NULL. */
    const struct http_header *as;
    const char *namespace_; /* the context's namespace, or "default" */
    const char *context;    /* the name of the context; NULL for a service account */
    /* The kubeconfig file that has the user, or that has the context if the context names no user.
     * NULL for a service account. */
    const char *path;
    bool insecure; /* the server's certificate is not checked */
};

/* Merges several kubeconfig texts and reads a context from them (NULL or "": the current one). If
 * entries have the same name, the first counts. The name of a text is the path of its file, and
 * relative paths in a text start at the directory of this file. *ret uses the names of the texts.
 * Pure: does not read the files that the texts name, so `ca_pem`, `cert_pem`, `key_pem` and `token`
 * are inline values only. Returns 0; -ERR_NOT_FOUND if there is no text, no current context or no
 * such entry; -ERR_UNSUPPORTED with the field's name for a login that is not supported, such as
 * auth-provider; or another negative code if a text is invalid. */
int kubeconfig_parse(struct arena *arena, const struct source *texts, size_t count,
                     const char *context, struct kubeconfig *ret, struct err *err);

/* Reads one kubeconfig and the files that it names. Blocks. */
int kubeconfig_read(struct arena *arena, const char *path, const char *context,
                    struct kubeconfig *ret, struct err *err);

/* If config->exec is set, runs the plugin, waits for it and stores its credential in `config`.
 * Otherwise does nothing. `may_prompt`: the plugin may ask the user. Blocks, so it must not run on
 * a loop thread. */
int kubeconfig_authenticate(struct arena *arena, struct kubeconfig *config, bool may_prompt,
                            struct err *err);

/* Reads the service account of a pod. `host` and `port` are KUBERNETES_SERVICE_HOST and
 * KUBERNETES_SERVICE_PORT; `directory` is usually "/var/run/secrets/kubernetes.io/serviceaccount".
 */
int kubeconfig_read_service_account(struct arena *arena, const char *directory, const char *host,
                                    const char *port, struct kubeconfig *ret, struct err *err);

/* Reads the first configuration that exists: `path` if given, else all existing files of
 * $KUBECONFIG merged, else ~/.kube/config, else the service account of the pod that this process
 * runs in. Returns -ERR_NOT_FOUND if there is none. */
int kubeconfig_find(struct arena *arena, const char *path, const char *context,
                    struct kubeconfig *ret, struct err *err);

/* Returns the message for a server that rejects the credential (401): which credential it is, where
 * it is configured and what to do. The message does not begin with a capital letter and has no full
 * stop. */
const char *kubeconfig_rejection_text(struct arena *arena, const struct kubeconfig *config);

/* Writes a file of mode 0600 with one cluster, user and context, all called `name`. Replaces an
 * existing file; if that file has the same token, its namespace is kept. Blocks. */
int kubeconfig_write(const char *path, const char *name, const struct kubeconfig *config,
                     struct err *err);

#endif
