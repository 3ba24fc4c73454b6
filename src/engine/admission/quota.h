/* Decides what a ResourceQuota counts and rejects. Pure. quota_write.c calls these functions for
 * one write after another, so that two concurrent writes cannot exceed a quota together. */
#ifndef TRAINYARD_ENGINE_ADMISSION_QUOTA_H
#define TRAINYARD_ENGINE_ADMISSION_QUOTA_H

#include "base/json/json.h"
#include "kube/resource.h"

/* Returns the usage of an object, with the names that a quota may limit:
 * {"pods":"1","requests.cpu":"500m"}. */
struct json *quota_usage(struct arena *arena, const struct kube_resource *id,
                         const struct json *object);

/* Whether the quota counts this object. A quota with scopes counts only pods that are in all of
 * its scopes. */
bool quota_covers(const struct json *quota, const struct kube_resource *id,
                  const struct json *object);
/* Whether the quota limits at least one name that quota_usage() may return for objects of this
 * kind. */
bool quota_is_about(const struct json *quota, const struct kube_resource *id);

/* Returns the increase from `before` (may be NULL) to `usage`, for the amounts that the quota
 * limits. Returns an empty object if no amount increases. */
struct json *quota_growth(struct arena *arena, const struct json *quota, const struct json *usage,
                          const struct json *before);

/* Returns an error message if the pod lacks a request or limit that the quota needs: "must specify
 * limits.cpu for: main". Returns NULL if it lacks none. */
const char *quota_missing_fields(struct arena *arena, const struct json *quota,
                                 const struct json *pod);

/* Returns "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2", or NULL if the
 * quota is not exceeded. */
const char *quota_exceeded(struct arena *arena, const struct json *quota,
                           const struct json *growth);

/* Adds each amount to the total of the same name. */
void quota_add(struct arena *arena, struct json *total, const struct json *amounts);

#endif
