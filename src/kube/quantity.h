/* Quantities of Kubernetes: "500m" of a CPU, "1Gi" of memory, "1e3". Exact to a billionth. As in
 * Kubernetes, finer fractions are rounded away from zero, and larger amounts are limited to the
 * range of int64. */
#ifndef TRAINYARD_KUBE_QUANTITY_H
#define TRAINYARD_KUBE_QUANTITY_H

#include "base/err.h"

#include <stdint.h>

/* The kinds of suffixes. */
enum kube_quantity_form {
    KUBE_QUANTITY_DECIMAL,  /* n u m k M G T P E */
    KUBE_QUANTITY_BINARY,   /* Ki Mi Gi Ti Pi Ei */
    KUBE_QUANTITY_EXPONENT, /* an exponent, such as e3 */
};

struct kube_quantity {
    __extension__ __int128 nano; /* billionths */
    enum kube_quantity_form form;
};

enum { KUBE_QUANTITY_TEXT_MAX = 48 };

/* Returns 0 or -ERR_INVALID. */
int kube_quantity_parse(const char *text, struct kube_quantity *ret, struct err *err);

struct json;
/* Reads a quantity from a JSON value of a manifest: a string, or a number (cpu: 2). A missing value
 * (NULL) and null are zero. Returns 0 or -ERR_INVALID. */
int kube_quantity_from_json(const struct json *value, struct kube_quantity *ret, struct err *err);

/* Writes the canonical text: no fraction and the largest possible suffix, such as "1500m" or "1Gi".
 * The text has the form of the quantity. As an exception, a binary amount that is below 1024 or not
 * an integer is written in decimal form. */
void kube_quantity_format(const struct kube_quantity *quantity, char text[KUBE_QUANTITY_TEXT_MAX]);

/* Returns -1, 0 or 1 if a is less than, equal to or greater than b. */
int kube_quantity_compare(const struct kube_quantity *a, const struct kube_quantity *b);
/* Adds b to *sum, limited to the range of int64. A sum of zero takes the form of b. */
void kube_quantity_add(struct kube_quantity *sum, const struct kube_quantity *b);

/* Returns whole units, such as bytes, rounded away from zero and limited to int64. */
int64_t kube_quantity_value(const struct kube_quantity *quantity);
/* Returns thousandths, such as milli-CPUs, rounded away from zero and limited to int64. */
int64_t kube_quantity_milli(const struct kube_quantity *quantity);

#endif
