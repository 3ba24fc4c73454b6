/* Decides what a ResourceQuota counts and rejects. Pure. quota_write.c calls it where writes are
 * ordered one after another, so that two writes cannot pass together where only one fits. */
#ifndef TRAINYARD_ENGINE_ADMISSION_QUOTA_H
#define TRAINYARD_ENGINE_ADMISSION_QUOTA_H

#include "base/json/json.h"
#include "kube/resource.h"

/* The usage of an object, by the names that a quota may use: {"pods":"1","requests.cpu":"500m"}. */
struct json *quota_usage(struct arena *arena, const struct kube_resource *id,
                         const struct json *object);

/* Whether the quota counts this object: the scopes of a quota restrict it to some pods. */
bool quota_covers(const struct json *quota, const struct kube_resource *id,
                  const struct json *object);
/* Whether one of the quota's names counts objects of this kind. */
bool quota_is_about(const struct json *quota, const struct kube_resource *id);

/* The increase from `before` (may be NULL) to `usage`, of the amounts that the quota limits. Empty
 * if there is none. */
struct json *quota_growth(struct arena *arena, const struct json *quota, const struct json *usage,
                          const struct json *before);

/* Why a pod is rejected whatever is left of the quota: "must specify limits.cpu for: main"; NULL:
 * it is not. */
const char *quota_missing_fields(struct arena *arena, const struct json *quota,
                                 const struct json *pod);

/* "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"; NULL: it is not exceeded.
 */
const char *quota_exceeded(struct arena *arena, const struct json *quota,
                           const struct json *growth);

/* Adds each amount to the total of the same name. */
void quota_add(struct arena *arena, struct json *total, const struct json *amounts);

#endif
