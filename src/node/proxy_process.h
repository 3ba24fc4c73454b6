/* The service proxy (trainyard-step proxy) as others see it: found by its lock, started, told of a
 * new table, ended. Its files lie in <state>/run. */
#ifndef TRAINYARD_NODE_PROXY_PROCESS_H
#define TRAINYARD_NODE_PROXY_PROCESS_H

#include "base/buf.h"
#include "base/err.h"

/* The one that lives, as a pidfd; ERR_NOT_FOUND. */
int proxy_process_find(const char *state_dir, int *ret_pidfd, struct err *err);

/* Start one in the pod network that the holder of this lock keeps. */
int proxy_process_start(const char *state_dir, const char *step_path, const char *holder,
                        struct err *err);

/* Write its table, and tell it if it lives. */
int proxy_process_set_table(const char *state_dir, const struct buf *text, struct err *err);

/* End it and wait for that; none is fine. */
int proxy_process_end(const char *state_dir, struct err *err);

#endif
