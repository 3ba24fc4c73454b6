/* The credentials of a cluster: its certificate authority, the server's certificate, the bearer
 * token of the kubeconfig, and the key that signs service account tokens. They are created once and
 * kept in the state directory, readable only by the user who runs `up`. */
#ifndef TRAINYARD_CLI_TRAINYARD_CREDENTIALS_H
#define TRAINYARD_CLI_TRAINYARD_CREDENTIALS_H

#include "base/arena.h"
#include "base/err.h"
#include "cli/trainyard/state_dir.h"

struct credentials {
    const char *ca_pem;
    const char *cert_pem;
    const char *key_pem;
    const char *token;
    const char *account_key;
};

int credentials_load(struct arena *arena, const struct state_dir *state, struct credentials *ret,
                     struct err *err);

#endif
