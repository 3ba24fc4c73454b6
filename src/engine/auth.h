/* Who asks. There is one user, known by the bearer token of the kubeconfig; probes need none. */
#ifndef TRAINYARD_ENGINE_AUTH_H
#define TRAINYARD_ENGINE_AUTH_H

#include "net/http.h"

#include <stdbool.h>

/* The user's name, or NULL for one who is not known. The comparison takes the same time wherever
 * the tokens differ. */
const char *auth_user(const struct http_request *request, const char *token);

/* Paths that anybody may read. */
bool auth_is_open(const char *path);

#endif
