/* What lets a client trust the server and the server know its client: a certificate authority of
 * the cluster's own, the server's certificate, the bearer token and the key that signs the tokens
 * of service accounts. Made once, kept in the state directory, for its owner's eyes only. */
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
