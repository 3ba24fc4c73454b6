/* Stores which host ports each job has reserved for its replicas with hostNetwork. Such replicas
 * share the ports of their node, so each gets a port that no other replica of any job has. The
 * controllers of all kinds in a process share one table. It is only a cache: the ports of
 * a job are stored on the job, and controllers fill the table from the jobs they watch. Controllers
 * change the table on their loop thread. The reconcile only reads it. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_HOST_PORTS_H
#define TRAINYARD_OPERATOR_RECONCILE_HOST_PORTS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* The default range. It is below the NodePorts of Services and below the ephemeral ports of the
 * system. */
enum { HOST_PORTS_FIRST = 20000, HOST_PORTS_LAST = 29999 };

struct host_ports;

/* Creates an empty table for the ports from `first` to `last`. */
struct host_ports *host_ports_new(int first, int last);
struct host_ports *host_ports_free(struct host_ports *ports);

/* Parses a range such as "20000-29999". Returns 0 or -ERR_BAD_REQUEST. */
int host_ports_parse_range(const char *text, int *ret_first, int *ret_last, struct err *err);

/* Replaces the ports of an owner. An owner is one job, such as "tfjob/default/mnist". */
void host_ports_set(struct host_ports *ports, const char *owner, const int *held, size_t count);
/* Removes all owners whose name starts with the prefix. */
void host_ports_forget(struct host_ports *ports, const char *prefix);

/* Returns whether an owner other than `owner` holds the port. */
bool host_ports_held_by_others(const struct host_ports *ports, const char *owner, int port);
int host_ports_first(const struct host_ports *ports);
int host_ports_last(const struct host_ports *ports);

/* Callers assign no port until every controller has reported the ports of its jobs, or until a time
 * limit has passed (host_ports_share.c). A controller calls host_ports_expect_report() when it is
 * created, and host_ports_reported() when it has seen its jobs. */
void host_ports_expect_report(struct host_ports *ports);
void host_ports_reported(struct host_ports *ports);
bool host_ports_all_reported(const struct host_ports *ports);

#endif
