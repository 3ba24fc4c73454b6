/* Checks the formats of strings as Kubernetes does in custom resources: "date-time", "ipv4", "uuid"
 * and others. Pure. */
#ifndef TRAINYARD_KUBE_SCHEMA_FORMAT_H
#define TRAINYARD_KUBE_SCHEMA_FORMAT_H

#include <stdbool.h>

/* Returns whether the text has the format. Returns true for an unknown format. */
bool schema_format_matches(const char *format, const char *text);

#endif
