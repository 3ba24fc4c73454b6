/* What pods ask of a node, by the name of the resource: "cpu", "memory", "nvidia.com/gpu". */
#ifndef TRAINYARD_OPERATOR_POD_AMOUNTS_H
#define TRAINYARD_OPERATOR_POD_AMOUNTS_H

#include "base/json/json.h"
#include "kube/quantity.h"

struct training_amount {
    const char *name;
    struct kube_quantity quantity;
};

struct training_amounts {
    struct training_amount *items; /* in the order in which they were first named */
    size_t count, capacity;
};

/* What a scheduler takes a pod of this spec for, by the rule of Kubernetes: its containers
 * together, or the largest of its init containers where that is more; a limit stands for a request
 * that is not said. What cannot be read counts nothing: the server will refuse it. */
struct training_amounts training_pod_amounts(struct arena *arena, const struct json *pod_spec);

void training_amounts_add(struct arena *arena, struct training_amounts *sum,
                          const struct training_amounts *more);

struct json *training_amounts_to_json(struct arena *arena, const struct training_amounts *amounts);

/* Whether two maps of names and quantities say the same: "1000m" is "1". */
bool training_amounts_equal(const struct json *a, const struct json *b);

#endif
