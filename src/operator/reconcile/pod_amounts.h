/* Computes the resources that pods request, by name: "cpu", "memory", "nvidia.com/gpu". The
 * PodGroup of a job contains their sum. Pure. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_POD_AMOUNTS_H
#define TRAINYARD_OPERATOR_RECONCILE_POD_AMOUNTS_H

#include "base/json/json.h"
#include "kube/quantity.h"

struct training_amount {
    const char *name; /* belongs to the pod spec */
    struct kube_quantity quantity;
};

struct training_amounts {
    struct training_amount *items; /* in the order in which names first occur */
    size_t count, capacity;
};

/* Returns the requests of the containers of a pod spec: per resource, the sum over the containers
 * and sidecars, or the largest amount while an init container runs, if that is more. If a request
 * is missing, the limit is used. An invalid quantity counts as zero, because the server will reject
 * the pod anyway. `pod_spec` must outlive the result, and every sum that the result is added to.
 * Ignores spec.overhead and spec.resources. */
struct training_amounts training_pod_amounts(struct arena *arena, const struct json *pod_spec);

/* Adds the amounts of `more` to `sum`. */
void training_amounts_add(struct arena *arena, struct training_amounts *sum,
                          const struct training_amounts *more);

struct json *training_amounts_to_json(struct arena *arena, const struct training_amounts *amounts);

/* Returns whether two JSON maps of names and quantities are equal: "1000m" equals "1". Returns
 * false if a quantity is invalid. */
bool training_amounts_equal(const struct json *a, const struct json *b);

#endif
