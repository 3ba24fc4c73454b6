/* Passes file descriptors to another process over a connected Unix socket of packets. Called by
 * host_links only. */
#ifndef TRAINYARD_COMM_TRANSPORT_SHM_DESCRIPTORS_H
#define TRAINYARD_COMM_TRANSPORT_SHM_DESCRIPTORS_H

#include "base/err.h"

#include <stdint.h>

enum { DESCRIPTORS_MAX = 128 }; /* per message; the kernel accepts 253 */

int descriptors_send(int link, const int *fds, int count, struct err *err);

/* Receives exactly `count` descriptors in one message, until `deadline` (monotonic, in ms). Fails
 * and closes what arrived if their number differs. A `link` of -1 fails like a closed one. */
int descriptors_receive(int link, int64_t deadline, int *ret_fds, int count, struct err *err);

#endif
