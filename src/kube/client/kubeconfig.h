/* How to reach a cluster: read from a kubeconfig or from a pod's service account, written by
 * `trainyard up`. The result fits struct http_client_options. Never edits a kubeconfig of the user:
 * the cluster of this machine has a file of its own. */
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
    const char *token;               /* or NULL */
    const char *token_file;          /* the file of the token, to read it again; or NULL */
    const char *username, *password; /* or NULL */
    const struct exec_plugin
        *exec;          /* the plugin that gives the credential, if there is none above; or NULL */
    int64_t expires_ms; /* end of the plugin's credential as Unix time; INT64_MAX: never */
    const struct http_header
        *as; /* "Impersonate-…" headers: the user that requests are made for; or NULL */
    const char *namespace_; /* the context's namespace, or "default" */
    const char *context;    /* the name of the context; NULL for a service account */
    const char *path;       /* the kubeconfig file; NULL for a service account */
    bool insecure;
};

/* Reads a context (NULL: the current one) from several kubeconfig texts as one: of entries with the
 * same name the first counts. The name of a text is its path; relative paths in it start there.
 * Pure: does not read the files that the texts name, so that `ca_pem` and the like hold inline
 * values only. Returns -ERR_UNSUPPORTED with the field's name for a login that is not supported
 * (auth-provider). */
int kubeconfig_parse(struct arena *arena, const struct source *texts, size_t count,
                     const char *context, struct kubeconfig *ret, struct err *err);

/* Reads one kubeconfig and the files that it names. */
int kubeconfig_read(struct arena *arena, const char *path, const char *context,
                    struct kubeconfig *ret, struct err *err);

/* If a plugin gives the credential, runs it and waits for it; otherwise does nothing. `asks`: the
 * plugin may ask the user. Blocks: call it at the start of a program, never on a loop thread. */
int kubeconfig_authenticate(struct arena *arena, struct kubeconfig *config, bool asks,
                            struct err *err);

/* Reads the service account of a pod. `host` and `port` are KUBERNETES_SERVICE_HOST and
 * KUBERNETES_SERVICE_PORT; `directory` is usually "/var/run/secrets/kubernetes.io/serviceaccount".
 */
int kubeconfig_read_service_account(struct arena *arena, const char *directory, const char *host,
                                    const char *port, struct kubeconfig *ret, struct err *err);

/* Finds the configuration as kubectl does: `path` if given, else all existing files of $KUBECONFIG
 * as one, else ~/.kube/config, else the service account of the pod that this process runs in. */
int kubeconfig_find(struct arena *arena, const char *path, const char *context,
                    struct kubeconfig *ret, struct err *err);

/* Returns a text for a server that rejects the credential (401): which credential it is, where it
 * stands and what to do. No capital, no full stop. */
const char *kubeconfig_rejection_text(struct arena *arena, const struct kubeconfig *config);

/* Writes a file of mode 0600 with one cluster, user and context, all called `name`. If the file
 * exists with the same token, its namespace is kept. */
int kubeconfig_write(const char *path, const char *name, const struct kubeconfig *config,
                     struct err *err);

#endif
