/* How to reach a cluster: read from a kubeconfig or from a pod's service account, written by
 * `trainyard up`. What is read fits struct http_client_options. Never merges into a file of the
 * user's: the cluster of this machine has a kubeconfig of its own. */
#ifndef TRAINYARD_KUBE_KUBECONFIG_H
#define TRAINYARD_KUBE_KUBECONFIG_H

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
    const char *server_name;        /* in its certificate, where it is not the server's; or NULL */
    const char *proxy;              /* "http://proxy:3128", or NULL: what the environment says */
    const char *ca_pem;             /* NULL: what the machine trusts */
    const char *ca_file;            /* where it came from, or NULL */
    const char *cert_pem, *key_pem; /* client certificate, or NULL */
    /* Where both came from, to be read again; NULL where one stands in the kubeconfig itself. */
    const char *cert_file, *key_file;
    const char *token;               /* or NULL */
    const char *token_file;          /* where the token came from, to be read again; or NULL */
    const char *username, *password; /* or NULL */
    const struct exec_plugin *exec;  /* gives the credential, where there is none above; or NULL */
    int64_t expires_ms;              /* of what it gave: Unix time, INT64_MAX: never */
    const struct http_header *as; /* "Impersonate-…": in whose name requests are made; or NULL */
    const char *namespace_;       /* of the context; "default" where it names none */
    const char *context;          /* the context used; NULL in a cluster */
    const char *path;             /* the file this was read from; NULL in a cluster */
    bool insecure;
};

/* The context `context`, or the current one where NULL, of these files as one: of several entries
 * of a name the first counts. A text's name is its path, which relative ones in it follow. Pure:
 * the files they name are not read, so that `ca_pem` and its like are what stands in the text
 * itself. What is not done (auth-provider) is ERR_UNSUPPORTED with the field's name: it must not be
 * left out in silence. */
int kubeconfig_parse(struct arena *arena, const struct source *texts, size_t count,
                     const char *context, struct kubeconfig *ret, struct err *err);

/* One file, and those it names. */
int kubeconfig_read(struct arena *arena, const char *path, const char *context,
                    struct kubeconfig *ret, struct err *err);

/* Where a plugin gives the credential: run it, and wait for it; `asks`: it may talk with the user.
 * Else nothing is done. For the start of a program, not for a loop. */
int kubeconfig_authenticate(struct arena *arena, struct kubeconfig *config, bool asks,
                            struct err *err);

/* From a pod: `host` and `port` as KUBERNETES_SERVICE_HOST and _PORT give them, `directory` the
 * service account's ("/var/run/secrets/kubernetes.io/serviceaccount"). */
int kubeconfig_read_service_account(struct arena *arena, const char *directory, const char *host,
                                    const char *port, struct kubeconfig *ret, struct err *err);

/* As kubectl looks: `path` if given, all files of $KUBECONFIG that exist as one, ~/.kube/config,
 * and the service account of the pod this runs in. */
int kubeconfig_find(struct arena *arena, const char *path, const char *context,
                    struct kubeconfig *ret, struct err *err);

/* Where the server answers that it does not know us (401): which credential that is, where it
 * stands and what to do. No capital, no full stop. */
const char *kubeconfig_rejection_text(struct arena *arena, const struct kubeconfig *config);

/* A file of mode 0600 with one cluster, user and context, all called `name`. Where the file is
 * there already with the same token, the namespace it names stays. */
int kubeconfig_write(const char *path, const char *name, const struct kubeconfig *config,
                     struct err *err);

#endif
