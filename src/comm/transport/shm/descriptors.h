/* Handing file descriptors to another process over a connected Unix socket of packets. Called by
 * host_links only. */
#ifndef TRAINYARD_COMM_DESCRIPTORS_H
#define TRAINYARD_COMM_DESCRIPTORS_H

#include "base/err.h"

#include <stdint.h>

enum { DESCRIPTORS_MAX = 128 }; /* in one message; the kernel takes 253 */

int descriptors_send(int link, const int *fds, int count, struct err *err);

/* Exactly `count` in one message, until `deadline` (monotonic, ms); whatever else came is closed.
 * A `link` of -1 is an error as a closed one is. */
int descriptors_receive(int link, int64_t deadline, int *ret_fds, int count, struct err *err);

#endif
