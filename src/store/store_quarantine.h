/* Keeps copies of damaged files next to the original FILE, with the names FILE.damaged-1,
 * FILE.damaged-2 and so on. */
#ifndef TRAINYARD_STORE_STORE_QUARANTINE_H
#define TRAINYARD_STORE_STORE_QUARANTINE_H

#include "base/err.h"

enum { STORE_QUARANTINE_MAX = 99 };

/* Copies the file and syncs the copy. The caller frees *ret_name. */
int store_quarantine_copy(const char *path, char **ret_name, struct err *err);

/* Creates a hard link to the file instead of a copy. The caller frees *ret_name. */
int store_quarantine_link(const char *path, char **ret_name, struct err *err);

/* Returns the name FILE.damaged-`n`, or NULL if there is no such file. The caller frees it. */
char *store_quarantine_name(const char *path, int n);

#endif
