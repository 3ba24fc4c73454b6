/* Creates and loads the credentials of a cluster; see credentials.h. */
#include "cli/trainyard/credentials.h"

#include "base/mem.h"
#include "base/rand.h"
#include "base/system/file.h"
#include "tls/tls.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NODES_MAX = 64, DAYS = 3650, FILE_MAX = 64 * 1024, TOKEN_BYTES = 32 };

static const char TOKEN_LETTERS[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=";

static int credentials_read_text(struct arena *arena, const char *path, const char **ret,
                                 struct err *err)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, FILE_MAX);
    int result = file_read(path, &text, err);
    if (result == 0)
        *ret = arena_strdup(arena, text.data);
    return result;
}

static int credentials_write_text(const char *path, const char *text, struct err *err)
{
    return file_write_atomic(path, text, strlen(text), 0600, err);
}

struct pki_paths {
    const char *ca, *cert, *key;
};

/* Returns the names and addresses of the API server for its certificate: those on the machine, that
 * of the gateway of the pod network, and those of the Service of the API server. The address of a
 * node is 127.0.0.<n>. All possible node addresses are included, so that more nodes need no new
 * certificate. The result ends with NULL. */
static const char *const *server_hosts(struct arena *arena)
{
    static const char *const NAMES[] = {
        "localhost",
        "::1",
        "10.244.0.1",
        "10.96.0.1",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
        "kubernetes.docker.internal",
    };
    const char **hosts = ARENA_ARRAY(arena, const char *, ARRAY_SIZE(NAMES) + NODES_MAX + 1);
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++)
        hosts[count++] = NAMES[i];
    for (int node = 1; node <= NODES_MAX; node++)
        hosts[count++] = arena_printf(arena, "127.0.0.%d", node);
    return hosts;
}

/* Returns whether the certificate lacks one of `hosts`, because an older version of this program
 * created it. Returns false if the certificate cannot be read or parsed; then it is created, or
 * loading it reports the error. */
static bool is_outdated(struct arena *arena, const struct pki_paths *paths,
                        const char *const *hosts)
{
    const char *cert = NULL;
    bool complete = true;
    if (credentials_read_text(arena, paths->cert, &cert, NULL) < 0 ||
        tls_cert_names_all(cert, hosts, &complete, NULL) < 0)
        return false;
    return !complete;
}

/* Creates the certificate authority and the certificate of the server. Does not save the key of the
 * authority, because it signs only one certificate. */
static int make_certificates(const struct pki_paths *paths, const char *const *hosts,
                             struct err *err)
{
    _cleanup_(tls_pair_release) struct tls_pair ca = {0}, server = {0};
    int result = tls_make_ca("trainyard", DAYS, &ca, err);
    if (result == 0)
        result = tls_make_cert(&ca, "trainyard-apiserver", hosts, DAYS, &server, err);
    if (result == 0)
        result = credentials_write_text(paths->ca, ca.cert_pem, err);
    if (result == 0)
        result = credentials_write_text(paths->key, server.key_pem, err);
    if (result == 0) /* written last: its existence proves that all three files exist */
        result = credentials_write_text(paths->cert, server.cert_pem, err);
    return result;
}

/* Writes a new secret of 256 random bits, as hexadecimal digits. */
static int make_secret(const char *path, struct err *err)
{
    unsigned char bytes[TOKEN_BYTES];
    char text[2 * TOKEN_BYTES + 1];
    rand_secure(bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return credentials_write_text(path, text, err);
}

/* Checks a secret: it must be long enough and have only the characters of a bearer token, because
 * the token is sent in an HTTP header. `noun` names the secret in the message. */
static int check_secret(const char *path, const char *noun, const char *secret, struct err *err)
{
    if (strlen(secret) < TOKEN_BYTES || secret[strspn(secret, TOKEN_LETTERS)] != '\0')
        return err_set(err, ERR_INVALID,
                       "'%s' contains no valid %s (at least %d letters and digits): delete the "
                       "file, and the next 'trainyard up' creates a new one",
                       path, noun, TOKEN_BYTES);
    return 0;
}

int credentials_load(struct arena *arena, const struct state_dir *state, struct credentials *ret,
                     struct err *err)
{
    struct pki_paths paths = {
        .ca = arena_printf(arena, "%s/ca.crt", state->pki),
        .cert = arena_printf(arena, "%s/server.crt", state->pki),
        .key = arena_printf(arena, "%s/server.key", state->pki),
    };
    const char *account_key = arena_printf(arena, "%s/service-account.key", state->pki);
    const char *const *hosts = server_hosts(arena);
    int result = 0;
    if (is_outdated(arena, &paths, hosts))
        unlink(paths.cert); /* removed first: without it the other files count as incomplete */
    if (!file_exists(paths.cert))
        result = make_certificates(&paths, hosts, err);
    if (result == 0 && !file_exists(state->token))
        result = make_secret(state->token, err);
    if (result == 0 && !file_exists(account_key))
        result = make_secret(account_key, err);
    if (result == 0)
        result = credentials_read_text(arena, paths.ca, &ret->ca_pem, err);
    if (result == 0)
        result = credentials_read_text(arena, paths.cert, &ret->cert_pem, err);
    if (result == 0)
        result = credentials_read_text(arena, paths.key, &ret->key_pem, err);
    if (result == 0)
        result = credentials_read_text(arena, state->token, &ret->token, err);
    if (result == 0)
        result = check_secret(state->token, "token", ret->token, err);
    if (result == 0)
        result = credentials_read_text(arena, account_key, &ret->account_key, err);
    if (result == 0)
        result = check_secret(account_key, "key", ret->account_key, err);
    return result < 0 ? err_wrap(err, "cannot set up the cluster's credentials") : 0;
}
