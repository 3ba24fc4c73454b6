/* Passes file descriptors to another process over a connected Unix socket that keeps message
 * boundaries. Called by host_links only. */
#ifndef TRAINYARD_COMM_TRANSPORT_SHM_DESCRIPTORS_H
#define TRAINYARD_COMM_TRANSPORT_SHM_DESCRIPTORS_H

#include "base/err.h"

#include <stdint.h>

enum { DESCRIPTORS_MAX = 128 }; /* limit per message; that of the kernel is 253 */

/* Sends `count` descriptors in one message. `count` must not exceed DESCRIPTORS_MAX. Does not block
 * if `link` is non-blocking. The caller keeps its descriptors. */
int descriptors_send(int link, const int *fds, int count, struct err *err);

/* Receives exactly `count` descriptors in one message. Waits until `deadline` (monotonic, ms). If
 * another number arrives, closes them and fails. Also fails if `link` is closed or -1. The caller
 * closes the descriptors in ret_fds. */
int descriptors_receive(int link, int64_t deadline, int *ret_fds, int count, struct err *err);

#endif
