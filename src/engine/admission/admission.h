/* Admission: checks and changes of an object that depend on other objects in the store. Except
 * in the section limits.c, a function without a comment is an `admit` hook of the registry. An
 * `admit` hook runs after the validation of a create or an update. It rejects the request by
 * returning an error, such as -ERR_FORBIDDEN or -ERR_INVALID. */
#ifndef TRAINYARD_ENGINE_ADMISSION_ADMISSION_H
#define TRAINYARD_ENGINE_ADMISSION_ADMISSION_H

#include "engine/api/call.h"

/* ---- admission.c */
int admission_admit_pod(struct api_call *call, struct json *pod, const struct json *old,
                        struct err *err);
int admission_admit_namespace(struct api_call *call, struct json *namespace_,
                              const struct json *old, struct err *err);

/* ---- class.c */
int admission_admit_claim(struct api_call *call, struct json *claim, const struct json *old,
                          struct err *err);
int admission_admit_priority_class(struct api_call *call, struct json *class_,
                                   const struct json *old, struct err *err);
/* Sets the priority of a pod from its class; a part of admission_admit_pod(). */
int admission_set_priority(struct api_call *call, struct json *pod, struct err *err);

/* ---- limits.c: the LimitRanges of the namespace; called by admission_admit_pod() and
 * admission_admit_claim() */
int admission_limit_pod(struct api_call *call, struct json *pod, struct err *err);
int admission_limit_claim(struct api_call *call, const struct json *claim, struct err *err);

/* ---- quota_write.c: the ResourceQuotas of the namespace */
int admission_admit_quota(struct api_call *call, struct json *quota, const struct json *old,
                          struct err *err);
/* A `status` hook: replaces the status that a client writes by the usage that the server counts. */
int admission_recount_quota(struct api_call *call, struct json *quota, struct err *err);
/* The `admit` hook for every kind: adds the usage of the object to the quotas of its namespace,
 * or rejects the object if a quota would be exceeded. */
int admission_charge_quotas(struct api_call *call, struct json *object, const struct json *old,
                            struct err *err);

#endif
