/* The user of a request: the result of authentication, and the input of authorization. */
#ifndef TRAINYARD_ENGINE_ACCESS_IDENTITY_H
#define TRAINYARD_ENGINE_ACCESS_IDENTITY_H

#include "base/json/json.h"
#include "base/str.h"

struct identity {
    const char *name; /* "trainyard-admin", "system:serviceaccount:default:builder" */
    /* The uid of the service account, or the value of the header Impersonate-Uid; or NULL. */
    const char *uid;
    const char *const *groups; /* NULL-terminated; NULL: none */
    const char *pod;           /* the name of the pod that the token is bound to; or NULL */
    const char *pod_uid;       /* the uid of that pod; or NULL */
    const struct json *extra;  /* further attributes: an object of lists of strings; or NULL */
};

/* Returns whether the user is a member of the group. */
static inline bool identity_is_in(const struct identity *identity, const char *group)
{
    for (const char *const *at = identity->groups; at && *at; at++)
        if (str_eq(*at, group))
            return true;
    return false;
}

/* Returns whether the user may do everything without a role, as a member of system:masters. The
 * administrator is a member, so no change of the roles can lock the administrator out. */
static inline bool identity_is_master(const struct identity *identity)
{
    return identity_is_in(identity, "system:masters");
}

#endif
