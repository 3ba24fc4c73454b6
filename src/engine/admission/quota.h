/* Decides what a ResourceQuota counts and rejects. Pure. quota_write.c calls these functions and
 * writes the result. An object of "amounts" maps names that a quota may limit to quantities. */
#ifndef TRAINYARD_ENGINE_ADMISSION_QUOTA_H
#define TRAINYARD_ENGINE_ADMISSION_QUOTA_H

#include "base/json/json.h"
#include "kube/resource.h"

/* Returns the amounts that an object uses: {"pods":"1","requests.cpu":"500m"}. */
struct json *quota_usage(struct arena *arena, const struct kube_resource *id,
                         const struct json *object);

/* Returns whether the quota counts this object. A quota with scopes counts only pods that are in
 * all of its scopes. */
bool quota_covers(const struct json *quota, const struct kube_resource *id,
                  const struct json *object);
/* Returns whether the quota limits at least one name that quota_usage() may return for objects of
 * this kind. */
bool quota_limits_kind(const struct json *quota, const struct kube_resource *id);

/* Returns the increase from `before` (may be NULL) to `usage`, for the amounts that the quota
 * limits. Returns an empty object if no amount increases. */
struct json *quota_growth(struct arena *arena, const struct json *quota, const struct json *usage,
                          const struct json *before);

/* Returns an error message if a container of the pod lacks a request or limit of cpu or memory that
 * the quota limits: "must specify limits.cpu for: main". Returns NULL if no container lacks one. */
const char *quota_missing_fields(struct arena *arena, const struct json *quota,
                                 const struct json *pod);

/* Returns an error message if the used amounts of the quota plus `growth` exceed the quota:
 * "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2". Otherwise returns NULL. */
const char *quota_exceeded(struct arena *arena, const struct json *quota,
                           const struct json *growth);

/* Adds each amount to the amount of the same name in `total`. */
void quota_add(struct arena *arena, struct json *total, const struct json *amounts);

#endif
