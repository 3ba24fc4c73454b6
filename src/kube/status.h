/* metav1.Status: how the API says that something went wrong, and what kubectl prints. A struct err
 * becomes one on our server's side and comes back as the same code on our client's side. */
#ifndef TRAINYARD_KUBE_STATUS_H
#define TRAINYARD_KUBE_STATUS_H

#include "base/err.h"
#include "base/json/json.h"

/* What the failure is about. Any may be NULL or 0; all zero: no details are written. */
struct kube_status_details {
    const char *name;
    const char *group;
    const char *kind; /* the plural on errors about an object, as upstream does: "pods" */
    const char *uid;
    const struct json *causes; /* [{reason, message, field}]; cloned */
    int64_t retry_after_seconds;
};

/* {kind: Status, apiVersion: v1, metadata: {}, status: Failure, message, reason, details, code}. */
struct json *kube_status_from_err(struct arena *arena, const struct err *err,
                                  const struct kube_status_details *details);
/* status: Success, as the answer to a DELETE whose object is gone at once. */
struct json *kube_status_success(struct arena *arena, const struct kube_status_details *details);

/* One entry of `causes`: {reason: "FieldValueInvalid", message, field: "spec.replicas"}. */
void kube_status_add_cause(struct arena *arena, struct json *causes, const char *reason,
                           const char *field, const char *message);

bool kube_status_is_status(const struct json *object);

/* Fill in `err` from a Status and return its negative code; 0 for a Status of success. What is no
 * Status at all is ERR_INTERNAL. */
int kube_status_to_err(const struct json *status, struct err *err);

/* The error an HTTP answer of 400 and above stands for: from the Status in its body where there is
 * one, else from the status line and the first line of the body. `what` names what was asked:
 * "GET /api/v1/pods". Always fails. */
int kube_status_of_answer(int http_status, const char *body, size_t size, const char *what,
                          struct err *err);

#endif
