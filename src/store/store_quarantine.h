/* Keeps copies of damaged files next to the original FILE, with the names FILE.damaged-1,
 * FILE.damaged-2 and so on. */
#ifndef TRAINYARD_STORE_STORE_QUARANTINE_H
#define TRAINYARD_STORE_STORE_QUARANTINE_H

#include "base/err.h"

enum { STORE_QUARANTINE_MAX = 99 };

/* Copies the file and syncs the copy. Sets *ret_name to the path of the copy, which the caller
 * frees. Returns 0, -ERR_TOO_MANY if STORE_QUARANTINE_MAX copies exist, or another error. */
int store_quarantine_copy(const char *path, char **ret_name, struct err *err);

/* Like store_quarantine_copy(), but creates a hard link to the file instead of a copy. */
int store_quarantine_link(const char *path, char **ret_name, struct err *err);

/* Returns the name FILE.damaged-`n`, which the caller frees. Returns NULL if there is no such file
 * or `n` exceeds STORE_QUARANTINE_MAX. */
char *store_quarantine_name(const char *path, int n);

#endif
