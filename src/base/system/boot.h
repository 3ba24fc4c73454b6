/* The boot id of the machine: it changes with each boot, and it is the same in all containers on
 * the machine. Code that reads a file written without fsync() uses the id to detect a reboot, after
 * which the file may be damaged. */
#ifndef TRAINYARD_BASE_SYSTEM_BOOT_H
#define TRAINYARD_BASE_SYSTEM_BOOT_H

#include "base/err.h"

enum { BOOT_ID_MAX = 64 };

/* Stores the boot id in `ret`. Returns 0, or an error if the kernel's file cannot be read. */
int boot_id(char ret[BOOT_ID_MAX], struct err *err);

#endif
