/* The connections of a group at work: streams around the ring, small frames between any two
 * members, and the watch over both. While a call waits it listens to every member, so that a lost
 * one is noticed by all and named; while it waits long it asks the others where they are, so that
 * the one that did not come is named too. Called by comm/group and the collectives; makes progress
 * only inside its functions. */
#ifndef TRAINYARD_COMM_TRANSPORT_TCP_H
#define TRAINYARD_COMM_TRANSPORT_TCP_H

#include "base/err.h"
#include "comm/group/lobby.h"
#include "comm/transport/transfer.h"
#include "comm/transport/wire.h"

#include <trainyard/tf_config.h>

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

struct transport_tcp;

struct transport_tcp_options {
    const struct ty_task *tasks; /* by rank; copied */
    int rank, size, channels;
    int64_t timeout_ms, report_ms;
    int64_t peer_timeout_ms; /* a member that does not answer for so long is lost; 0: timeout_ms */
    /* Not 0: whoever is behind is not waited for any more once it would be named; may be NULL. */
    const volatile sig_atomic_t *stop;
    void (*report)(void *context, const char *line);
    /* Who is so late that it is reported, as "worker 1 (host:port)"; NULL when that is over; may be
     * NULL. */
    void (*waiting)(void *context, const char *whom);
    /* So much longer was waited for "worker 1", which came late to a call; may be NULL. */
    void (*waited)(void *context, const char *task, int64_t ns);
    void *context;
};

/* Takes the links. */
struct transport_tcp *transport_tcp_new(const struct transport_tcp_options *options,
                                        struct rendezvous_links *links);
/* Says goodbye to whoever is still there. */
struct transport_tcp *transport_tcp_free(struct transport_tcp *tcp);

/* How long a call may make no progress, from now on. */
void transport_tcp_set_timeout(struct transport_tcp *tcp, int64_t timeout_ms);
/* How long a member may not answer, from now on; as in the options. */
void transport_tcp_set_peer_timeout(struct transport_tcp *tcp, int64_t timeout_ms);

/* What became of a member, as far as its connection tells; asked when the group is broken. */
enum lobby_fate transport_tcp_fate(struct transport_tcp *tcp, int rank);
/* The others go on without this task, which did not answer, or may do so. */
bool transport_tcp_expelled(const struct transport_tcp *tcp);

int transport_tcp_rank(const struct transport_tcp *tcp);
int transport_tcp_size(const struct transport_tcp *tcp);
bool transport_tcp_has_pairs(const struct transport_tcp *tcp); /* data may go between any two */

/* What a call is, told to the peers so that two different calls never meet unnoticed. */
enum transport_call {
    TRANSPORT_JOIN = 1, /* the first call of all: nobody begins before everybody is connected */
    TRANSPORT_ALLREDUCE,
    TRANSPORT_BROADCAST,
    TRANSPORT_ALLGATHER,
    TRANSPORT_BARRIER,
    TRANSPORT_SHARE, /* finding out who shares a machine, and sharing memory */
    TRANSPORT_CALLS,
};

/* The code of the error that broke the group; ERR_NONE: it is whole. */
enum err_code transport_tcp_broken_by(const struct transport_tcp *tcp);

/* Every collective begins with this: it counts calls, and answers a broken group's error. */
int transport_tcp_begin(struct transport_tcp *tcp, enum transport_call call, size_t size,
                        struct err *err);

/* The current call, as members tell it each other. */
struct transport_mark {
    uint64_t sequence, call, size;
};
struct transport_mark transport_tcp_mark(const struct transport_tcp *tcp);

/* For a transport beside this one that waits for member `rank` by itself: to be called while it
 * waits, every few milliseconds. Looks after the control connections without blocking, reports and
 * loses patience as every wait does. transport_tcp_noticed: the member is known to have reached the
 * current call. transport_tcp_waited: it came to it so much later than this one.
 * transport_tcp_overslept: it slept so much longer than it asked the kernel for,
 * which is not held against the others. transport_tcp_progress: the waiting is over.
 * transport_tcp_differs: the member is in another call; breaks the group. */
int transport_tcp_watch(struct transport_tcp *tcp, int rank, struct err *err);
void transport_tcp_overslept(struct transport_tcp *tcp, int64_t excess_ms);
void transport_tcp_noticed(struct transport_tcp *tcp, int rank);
void transport_tcp_waited(struct transport_tcp *tcp, int rank, int64_t ns);
void transport_tcp_progress(struct transport_tcp *tcp);
int transport_tcp_differs(struct transport_tcp *tcp, int rank, const struct transport_mark *mark,
                          struct err *err);

/* A line for whoever listens to reports. */
void transport_tcp_say(const struct transport_tcp *tcp, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Run a plan to its end; one over pairs only where there are such connections. */
int transport_tcp_run_ring(struct transport_tcp *tcp, const struct ring_plan *plan,
                           struct err *err);

/* Give `size` bytes (at most WIRE_FRAME_MAX) to every other member and get theirs: ret_all has size
 * bytes for each rank, the own included. */
int transport_tcp_exchange(struct transport_tcp *tcp, const void *data, size_t size, void *ret_all,
                           struct err *err);

#endif
