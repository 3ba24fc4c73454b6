/* The formats of texts that Kubernetes checks in custom resources: "date-time", "ipv4", "uuid".
 * Pure. */
#ifndef TRAINYARD_KUBE_SCHEMA_FORMAT_H
#define TRAINYARD_KUBE_SCHEMA_FORMAT_H

#include <stdbool.h>

/* True for a format that nobody knows, too. */
bool schema_format_matches(const char *format, const char *text);

#endif
