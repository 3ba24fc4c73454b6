/* Shared by the files of the label selector. */
#ifndef TRAINYARD_KUBE_SELECTOR_INTERNAL_H
#define TRAINYARD_KUBE_SELECTOR_INTERNAL_H

#include "base/err.h"

/* Checks a qualified name: an optional DNS subdomain and '/', then up to 63 letters, digits, '-',
 * '_' and '.' that begin and end with a letter or digit. Returns 0 or -ERR_INVALID. */
int selector_check_key(const char *key, struct err *err);

#endif
