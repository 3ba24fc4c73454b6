/* The ports of the nodes that replicas with hostNetwork listen on. Such replicas share the port
 * space of their node, so each gets a port of its own out of a range, the only one of that number
 * in all jobs. This is the table of who holds which, one a process, shared by the controllers of
 * all kinds. It is a memory only: what a job holds is written on the job, and the table is filled
 * from the jobs. */
#ifndef TRAINYARD_OPERATOR_HOST_PORTS_H
#define TRAINYARD_OPERATOR_HOST_PORTS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Below the node ports of services and below the ports that systems give to clients. */
enum { HOST_PORTS_FIRST = 20000, HOST_PORTS_LAST = 29999 };

struct host_ports;

struct host_ports *host_ports_new(int first, int last);
struct host_ports *host_ports_free(struct host_ports *ports);

/* "20000-29999". */
int host_ports_parse_range(const char *text, int *ret_first, int *ret_last, struct err *err);

/* An owner is one job: "tfjob/default/mnist". */
void host_ports_set(struct host_ports *ports, const char *owner, const int *held, size_t count);
/* All owners whose name begins so. */
void host_ports_forget(struct host_ports *ports, const char *prefix);

bool host_ports_held_by_others(const struct host_ports *ports, const char *owner, int port);
int host_ports_first(const struct host_ports *ports);
int host_ports_last(const struct host_ports *ports);

/* Before anything is given out, everybody must have told what is held: a controller expects to tell
 * when it is made, and has told when it knows its jobs. */
void host_ports_expect_report(struct host_ports *ports);
void host_ports_reported(struct host_ports *ports);
bool host_ports_all_reported(const struct host_ports *ports);

#endif
