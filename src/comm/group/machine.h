/* Which machine this is: the id of its boot, which all containers and pods on it share. Tasks on
 * one machine can share memory, and cannot be cut off from each other. Called by host_links and
 * assembly. */
#ifndef TRAINYARD_COMM_MACHINE_H
#define TRAINYARD_COMM_MACHINE_H

#include "base/system/boot.h"

enum { MACHINE_ID_MAX = BOOT_ID_MAX };

int machine_id(char ret[MACHINE_ID_MAX], struct err *err);

#endif
