/* To ask as somebody else (`kubectl --as`): the Impersonate-… headers of a request. Whom they name
 * takes the asker's place, if the roles let the asker do so; from then on nothing tells the two
 * apart. Pure, as access.h is. */
#ifndef TRAINYARD_ENGINE_IMPERSONATION_H
#define TRAINYARD_ENGINE_IMPERSONATION_H

#include "engine/access/access.h"
#include "net/http/http.h"

/* The first header of this sort, or NULL: nobody else is asked as. */
const char *impersonation_header(const struct http_header *headers);

/* Whom the headers name, in place of `asker`. ERR_FORBIDDEN, or ERR_BAD_REQUEST for headers that
 * name no user. */
int impersonation_apply(struct arena *arena, const struct access_policy *policy,
                        const struct identity *asker, const struct http_header *headers,
                        const struct identity **ret, struct err *err);

#endif
