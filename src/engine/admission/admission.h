/* Admission: checks and changes an object that a client writes, in ways that depend on other
 * objects in the store. Most functions are `admit` hooks, which engine/hooks.c lists per kind. An
 * `admit` hook runs after the validation of a create or an update. `old` is the stored object, or
 * NULL on create. The hook rejects the request by returning an error, such as -ERR_FORBIDDEN or
 * -ERR_INVALID. It must not block and must run on the loop thread. */
#ifndef TRAINYARD_ENGINE_ADMISSION_ADMISSION_H
#define TRAINYARD_ENGINE_ADMISSION_ADMISSION_H

#include "engine/api/call.h"

/* ---- admission.c: two `admit` hooks */

/* Applies the LimitRanges to a new pod. Sets its service account, its priority, its token volume,
 * its default tolerations and, if it has scheduling gates, the condition PodScheduled. Does nothing
 * on an update. */
int admission_admit_pod(struct api_call *call, struct json *pod, const struct json *old,
                        struct err *err);
/* Queues the writes of the objects that a new namespace gets (bootstrap.h). Does nothing on an
 * update or a dry run. */
int admission_admit_namespace(struct api_call *call, struct json *namespace_,
                              const struct json *old, struct err *err);

/* ---- class.c */

/* The `admit` hook of PersistentVolumeClaims: applies the LimitRanges, and sets the StorageClass of
 * a new claim that names none. */
int admission_admit_claim(struct api_call *call, struct json *claim, const struct json *old,
                          struct err *err);
/* The `admit` hook of PriorityClasses: allows only one default class. */
int admission_admit_priority_class(struct api_call *call, struct json *class_,
                                   const struct json *old, struct err *err);
/* Sets the priority of a pod from its class. Returns -ERR_FORBIDDEN if the class does not exist or
 * the pod states another priority. A part of admission_admit_pod(). */
int admission_set_priority(struct api_call *call, struct json *pod, struct err *err);

/* ---- limits.c: the LimitRanges of the namespace */

/* Sets the default requests and limits of the pod's containers. Returns -ERR_FORBIDDEN if a
 * LimitRange rejects the pod or the check would take too long, or -ERR_INVALID if the pod is not
 * valid with the defaults. A part of admission_admit_pod(). */
int admission_limit_pod(struct api_call *call, struct json *pod, struct err *err);
/* Returns -ERR_FORBIDDEN if a LimitRange rejects the claim. A part of admission_admit_claim(). */
int admission_limit_claim(struct api_call *call, const struct json *claim, struct err *err);

/* ---- quota_write.c: the ResourceQuotas of the namespace */

/* The `admit` hook of ResourceQuotas. If the quota is new or its spec.hard has changed, sets the
 * status to the counted usage, or removes the status while a write of any object is pending. */
int admission_admit_quota(struct api_call *call, struct json *quota, const struct json *old,
                          struct err *err);
/* The `status` hook of ResourceQuotas: replaces the status that a client writes by the usage that
 * the server counts. Returns -ERR_CONFLICT while a write of any object is pending. */
int admission_recount_quota(struct api_call *call, struct json *quota, struct err *err);
/* The `admit` hook for every kind: queues writes that add the increase of the object's usage to the
 * quotas of its namespace. In a dry run, only checks the quotas. Does nothing for a ResourceQuota
 * or a cluster-scoped object. Returns -ERR_FORBIDDEN and queues nothing if a quota rejects the
 * object. */
int admission_charge_quotas(struct api_call *call, struct json *object, const struct json *old,
                            struct err *err);

#endif
