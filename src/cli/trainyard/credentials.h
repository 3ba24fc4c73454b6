/* The credentials of a cluster: its certificate authority, the server's certificate, the bearer
 * token of the kubeconfig, and the key that signs service account tokens. The first start of the
 * cluster creates them and keeps them in the state directory, readable only by the user who runs
 * `trainyard up`. Later starts load them. */
#ifndef TRAINYARD_CLI_TRAINYARD_CREDENTIALS_H
#define TRAINYARD_CLI_TRAINYARD_CREDENTIALS_H

#include "base/arena.h"
#include "base/err.h"
#include "cli/trainyard/state_dir.h"

struct credentials {
    const char *ca_pem;      /* the certificate of the authority */
    const char *cert_pem;    /* the server's certificate */
    const char *key_pem;     /* the private key of the server's certificate */
    const char *token;       /* the bearer token of the kubeconfig */
    const char *account_key; /* the key that signs service account tokens */
};

/* Loads the credentials into `arena`, and creates those that are missing. Replaces the certificates
 * if an older version of this program created them without a name that is needed now. */
int credentials_load(struct arena *arena, const struct state_dir *state, struct credentials *ret,
                     struct err *err);

#endif
