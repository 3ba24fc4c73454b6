/* The id of this start of the machine, which all containers and pods on it share: what was written
 * without waiting for the disk counts only within it. */
#ifndef TRAINYARD_BASE_BOOT_H
#define TRAINYARD_BASE_BOOT_H

#include "base/err.h"

enum { BOOT_ID_MAX = 64 };

int boot_id(char ret[BOOT_ID_MAX], struct err *err);

#endif
