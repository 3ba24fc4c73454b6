/* Quantities of Kubernetes: "500m" of a CPU, "1Gi" of memory, "1e3". Exact to a billionth. As in
 * Kubernetes, finer fractions are rounded away from zero, and larger amounts are limited to the
 * range of int64. */
#ifndef TRAINYARD_KUBE_QUANTITY_H
#define TRAINYARD_KUBE_QUANTITY_H

#include "base/err.h"

#include <stdint.h>

enum kube_quantity_form {
    KUBE_QUANTITY_DECIMAL,  /* n u m k M G T P E */
    KUBE_QUANTITY_BINARY,   /* Ki Mi Gi Ti Pi Ei */
    KUBE_QUANTITY_EXPONENT, /* e3 */
};

struct kube_quantity {
    __extension__ __int128 nano; /* billionths */
    enum kube_quantity_form form;
};

enum { KUBE_QUANTITY_TEXT_MAX = 48 };

int kube_quantity_parse(const char *text, struct kube_quantity *ret, struct err *err);

/* Reads a quantity from a JSON value of a manifest: a string, or a number (cpu: 2). NULL is zero.
 */
struct json;
int kube_quantity_from_json(const struct json *value, struct kube_quantity *ret, struct err *err);

/* Writes the canonical text: no fraction and the largest possible suffix, such as "1500m" or "1Gi".
 * The text has the form (enum kube_quantity_form) that was parsed. */
void kube_quantity_format(const struct kube_quantity *quantity, char text[KUBE_QUANTITY_TEXT_MAX]);

int kube_quantity_compare(const struct kube_quantity *a, const struct kube_quantity *b);
/* Adds b to *sum, limited to the range of int64. */
void kube_quantity_add(struct kube_quantity *sum, const struct kube_quantity *b);

/* Return whole units (bytes) and thousandths (milli-CPUs), rounded up and limited to int64. */
int64_t kube_quantity_value(const struct kube_quantity *quantity);
int64_t kube_quantity_milli(const struct kube_quantity *quantity);

#endif
