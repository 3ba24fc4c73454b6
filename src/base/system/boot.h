/* The boot id of the machine: it changes with each boot, and all containers and pods on the machine
 * see the same. A file that was written without fsync can be trusted only during the boot that
 * wrote it. */
#ifndef TRAINYARD_BASE_SYSTEM_BOOT_H
#define TRAINYARD_BASE_SYSTEM_BOOT_H

#include "base/err.h"

enum { BOOT_ID_MAX = 64 };

int boot_id(char ret[BOOT_ID_MAX], struct err *err);

#endif
