/* The user of a request: the result of authentication, and the input of authorization. */
#ifndef TRAINYARD_ENGINE_ACCESS_IDENTITY_H
#define TRAINYARD_ENGINE_ACCESS_IDENTITY_H

#include "base/json/json.h"
#include "base/str.h"

struct identity {
    const char *name; /* "trainyard-admin", "system:serviceaccount:default:builder" */
    /* The uid of the service account, or the value of the header Impersonate-Uid; or NULL. */
    const char *uid;
    const char *const *groups; /* NULL-terminated */
    const char *pod, *pod_uid; /* the pod that the token is bound to, or NULL */
    const struct json *extra;  /* further attributes: an object of lists of strings; or NULL */
};

static inline bool identity_is_in(const struct identity *identity, const char *group)
{
    for (const char *const *at = identity->groups; at && *at; at++)
        if (str_eq(*at, group))
            return true;
    return false;
}

/* Members of system:masters may do everything, without a role. So no change of the roles can lock
 * out the owner of the cluster. */
static inline bool identity_is_master(const struct identity *identity)
{
    return identity_is_in(identity, "system:masters");
}

#endif
