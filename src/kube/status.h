/* Converts between struct err and metav1.Status, with which the API reports a failure. The server
 * converts a struct err into a Status, and the client converts the Status back into a struct err.
 * kubectl prints the message of the Status. */
#ifndef TRAINYARD_KUBE_STATUS_H
#define TRAINYARD_KUBE_STATUS_H

#include "base/err.h"
#include "base/json/json.h"

/* The object that a Status is about. Members that are NULL or 0 are not written. If no member is
 * written, `details` is an empty object. */
struct kube_status_details {
    const char *name;
    const char *group;
    const char *kind; /* the plural, such as "pods"; for ERR_INVALID the kind; as in Kubernetes */
    const char *uid;
    const struct json *causes; /* [{reason, message, field}]; copied */
    int64_t retry_after_seconds;
};

/* Returns {kind: Status, apiVersion: v1, metadata: {}, status: Failure, message, reason, details,
 * code}. If the argument `details` is NULL, the Status has none. */
struct json *kube_status_from_err(struct arena *arena, const struct err *err,
                                  const struct kube_status_details *details);
/* Returns a Status of success. It is the answer to a DELETE that removed the object at once, to a
 * binding and to an eviction. */
struct json *kube_status_success(struct arena *arena, const struct kube_status_details *details);

/* Appends an entry to the array `causes`: {reason: "FieldValueInvalid", message, field:
 * "spec.replicas"}. `field` NULL or "": the entry has none. */
void kube_status_add_cause(struct arena *arena, struct json *causes, const char *reason,
                           const char *field, const char *message);

bool kube_status_is_status(const struct json *object);

/* Sets `err` from a Status and returns its negative code. Returns 0 for a Status of success, and
 * -ERR_INTERNAL if the object is not a Status. */
int kube_status_to_err(const struct json *status, struct err *err);

/* Sets `err` for an HTTP answer of 400 and above: from the Status in its body if there is one, else
 * from the status code and the first line of the body. `what` names the request: "GET
 * /api/v1/pods". Always returns a negative code. */
int kube_status_of_answer(int http_status, const char *body, size_t size, const char *what,
                          struct err *err);

#endif
