/* The resources that pods request, by name: "cpu", "memory", "nvidia.com/gpu". */
#ifndef TRAINYARD_OPERATOR_RECONCILE_POD_AMOUNTS_H
#define TRAINYARD_OPERATOR_RECONCILE_POD_AMOUNTS_H

#include "base/json/json.h"
#include "kube/quantity.h"

struct training_amount {
    const char *name;
    struct kube_quantity quantity;
};

struct training_amounts {
    struct training_amount *items; /* in the order of their first use */
    size_t count, capacity;
};

/* Returns the requests of a pod spec by the rule of Kubernetes: the sum of its containers, or the
 * largest init container if that is more. A limit stands for a missing request. An invalid quantity
 * counts as zero; the server will reject the pod. */
struct training_amounts training_pod_amounts(struct arena *arena, const struct json *pod_spec);

void training_amounts_add(struct arena *arena, struct training_amounts *sum,
                          const struct training_amounts *more);

struct json *training_amounts_to_json(struct arena *arena, const struct training_amounts *amounts);

/* Returns whether two maps of names and quantities are equal: "1000m" equals "1". */
bool training_amounts_equal(const struct json *a, const struct json *b);

#endif
