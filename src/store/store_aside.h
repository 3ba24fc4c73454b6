/* Damaged files are kept next to the file they come from, as FILE.damaged-1, -2 and so on. */
#ifndef TRAINYARD_STORE_STORE_ASIDE_H
#define TRAINYARD_STORE_STORE_ASIDE_H

#include "base/err.h"

enum { STORE_QUARANTINE_MAX = 99 };

/* Copies the file, synced. The caller frees ret_name. */
int store_quarantine_copy(const char *path, char **ret_name, struct err *err);

/* Gives the file the name as a second one. The caller frees ret_name. */
int store_quarantine_link(const char *path, char **ret_name, struct err *err);

/* The name of the n-th file that is kept, counted from 1; the caller frees it. NULL: there is none.
 */
char *store_quarantine_name(const char *path, int n);

#endif
