/* What a ResourceQuota counts and what it refuses. Pure; quota_write.c decides with it where writes
 * are in line, one behind the other, so that no two of them pass together. */
#ifndef TRAINYARD_ENGINE_QUOTA_H
#define TRAINYARD_ENGINE_QUOTA_H

#include "base/json/json.h"
#include "kube/resource.h"

/* What the object counts for, by the names a quota may use: {"pods":"1","requests.cpu":"500m"}. */
struct json *quota_usage(struct arena *arena, const struct kube_resource *id,
                         const struct json *object);

/* Whether the quota counts this object at all: its scopes speak of some pods only. */
bool quota_covers(const struct json *quota, const struct kube_resource *id,
                  const struct json *object);
/* … and any object of the kind: one of its names is about it. */
bool quota_is_about(const struct json *quota, const struct kube_resource *id);

/* What is new in `usage` of what the quota limits; `before` may be NULL. Empty: nothing. */
struct json *quota_growth(struct arena *arena, const struct json *quota, const struct json *usage,
                          const struct json *before);

/* Why a pod is refused whatever is left: "must specify limits.cpu for: main"; NULL: it is not. */
const char *quota_missing_fields(struct arena *arena, const struct json *quota,
                                 const struct json *pod);

/* "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2", or NULL. */
const char *quota_exceeded(struct arena *arena, const struct json *quota,
                           const struct json *growth);

/* Adds amounts, name by name. */
void quota_add(struct arena *arena, struct json *total, const struct json *amounts);

#endif
