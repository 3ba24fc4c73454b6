/* The control connections of a group: one to every other member. A struct control numbers the calls
 * of the group, carries the contributions of small collectives, and detects members that are lost,
 * silent, late or in another call. A transport moves the data. While a transport waits, it calls
 * control_wait() or control_watch(), so that failures are detected and named in one place for all
 * transports. Called by group, by the collectives and by the transports, on the thread that makes
 * the calls of the group. Control connections make progress only inside these functions. */
#ifndef TRAINYARD_COMM_TRANSPORT_CONTROL_H
#define TRAINYARD_COMM_TRANSPORT_CONTROL_H

#include "base/err.h"
#include "comm/transport/connection.h"
#include "comm/transport/wire.h"

#include <trainyard/tf_config.h>

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

struct control;

struct control_options {
    const struct ty_task *tasks; /* by rank; need not outlive control_new() */
    int rank, size;
    int64_t timeout_ms;      /* a call that makes no progress for this long fails */
    int64_t report_ms;       /* interval between two reports about late members */
    int64_t peer_timeout_ms; /* a member that does not answer for this long counts as lost; 0:
                              * never */
    /* When *stop is nonzero, a call fails instead of waiting longer than report_ms for a late
     * member. May be NULL. */
    const volatile sig_atomic_t *stop;
    void (*report)(void *context, const char *line); /* may be NULL */
    /* Called with the names of late members when they are reported, and with NULL when the wait for
     * them ends. The names are text like "worker 1 (host:port)" or "data from worker 1
     * (host:port)". May be NULL. */
    void (*waiting)(void *context, const char *names);
    /* Called when this member has waited for `task` ("worker 1"), which came late to a call. `ns`
     * is the time waited since this function was last called for `task`, in nanoseconds. May be
     * NULL. */
    void (*waited)(void *context, const char *task, int64_t ns);
    void *context;
};

/* Moves the control connections out of `connections`. The data connections stay there. */
struct control *control_new(const struct control_options *options,
                            struct connection_set *connections);
/* Closes the control connections. Unless the group is broken, first tells the other members that
 * this member leaves. NULL-safe; returns NULL. */
struct control *control_free(struct control *control);

/* Replace options.timeout_ms and options.peer_timeout_ms. */
void control_set_timeout(struct control *control, int64_t timeout_ms);
void control_set_peer_timeout(struct control *control, int64_t timeout_ms);

int control_rank(const struct control *control);
int control_size(const struct control *control);

/* The state of a member according to its control connection. */
enum peer_outcome {
    PEER_CONNECTED, /* the connection is open */
    PEER_LOST,      /* the connection broke without WIRE_FRAME_BYE: the process probably ended */
    PEER_SILENT,    /* the member stopped answering; its process may still run */
    /* The member left this group on purpose, or reported it as broken. It may join the next
     * group. */
    PEER_LEFT,
};

/* First reads all messages that the member has sent, which may break the group. Called at the end
 * of a group. */
enum peer_outcome control_peer_outcome(struct control *control, int rank);
/* Whether the other members have continued without this member, or may have done so, because it did
 * not answer. */
bool control_is_expelled(const struct control *control);

/* The kinds of calls. Members compare the kind, so that different calls are never mixed up. */
enum control_call {
    CONTROL_CALL_JOIN = 1, /* first call; returns when every member is connected to every other
                            * member */
    CONTROL_CALL_ALLREDUCE,
    CONTROL_CALL_BROADCAST,
    CONTROL_CALL_ALLGATHER,
    CONTROL_CALL_BARRIER,
    CONTROL_CALL_SHARE, /* members that share a machine find each other and share memory */
    CONTROL_CALLS,
};

/* Starts the next call; every collective calls it first. If the group is broken, fails with the
 * error that broke it. */
int control_begin_call(struct control *control, enum control_call call, size_t size,
                       struct err *err);

/* Describes a call to other members. */
struct control_call_note {
    uint64_t sequence, call, size;
};
struct control_call_note control_current_call(const struct control *control);

/* Sends `size` bytes (at most WIRE_FRAME_MAX) to every other member and receives theirs. ret_all
 * gets `size` bytes per rank, including this member's own `data`. */
int control_exchange(struct control *control, const void *data, size_t size, void *ret_all,
                     struct err *err);

/* Returns when every member has called it. */
int control_barrier(struct control *control, struct err *err);

/* Returns the code of the error that broke the group, or ERR_NONE if the group is not broken. */
enum err_code control_broken_code(const struct control *control);

/* Passes a formatted line to options.report. */
void control_report(const struct control *control, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- For transports that wait on descriptors ------------------------------------------------- */

/* Reserves `count` descriptors for the transport, which control_wait() polls together with the
 * control connections. The result stays valid until the next call of this function. */
struct pollfd *control_reserve_polls(struct control *control, size_t count);

/* Waits until one of the first `count` reserved descriptors or a control connection is ready,
 * handles ready control connections, and sends the pings and reports that are due. May return 0
 * although no descriptor is ready; the caller then tries again. Fails if the group breaks. */
int control_wait(struct control *control, size_t count, struct err *err);

/* Sets the member for whose data the following calls of control_wait() wait. */
void control_expect(struct control *control, int rank);

/* Called when the data of member `rank` for the current call begins to arrive. If a member was
 * late, attributes the time of the current wait to that member. */
void control_peer_arrived(struct control *control, int rank);

/* Called after data has moved: ends the current wait, so that the next wait starts with the full
 * timeout. */
void control_progress(struct control *control);

/* Called in a call that is not a small collective: fails if a member has sent a contribution to a
 * small collective with the number of this call. */
int control_check_contributions(struct control *control, struct err *err);

/* ---- For transports that wait by themselves -------------------------------------------------- */

/* The transport must call it every few milliseconds while it waits for member `rank`. Handles the
 * control connections without blocking, and reports and fails like control_wait(). */
int control_watch(struct control *control, int rank, struct err *err);

/* Called when the transport has slept `excess_ms` longer than requested: this time does not count
 * towards the timeouts of the other members. */
void control_forgive_oversleep(struct control *control, int64_t excess_ms);

/* Records that member `rank` has reached the current call. */
void control_note_arrival(struct control *control, int rank);

/* Records that member `rank` reached the current call `ns` nanoseconds later than this member. */
void control_count_wait(struct control *control, int rank, int64_t ns);

/* Ends the current wait without attributing its time to a member. */
void control_end_wait(struct control *control);

/* Breaks the group because member `rank` is in call `note` instead of the current call. First reads
 * the control connections, which may have an earlier reason. Returns the error of the group. */
int control_refuse_call(struct control *control, int rank, const struct control_call_note *note,
                        struct err *err);

/* ---- Failures -------------------------------------------------------------------------------- */

/* Breaks the group, unless it is broken already. Keeps the error for this and all later calls, and
 * sends it to the other members, which may not notice the cause themselves. */
void control_break(struct control *control, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets `err` to the error that broke the group, and returns its negative code. */
int control_broken(const struct control *control, struct err *err);

/* Called when a data connection to member `rank` has failed. Waits briefly for a message with the
 * cause, then breaks the group. Returns the error of the group. */
int control_data_failed(struct control *control, int rank, int errnum, struct err *err);

/* Breaks the group because member `rank` is in call `note` instead of the current call. Unlike
 * control_refuse_call(), does not look for an earlier reason. */
int control_mismatch(struct control *control, int rank, const struct control_call_note *note,
                     struct err *err);

/* Returns a name like "worker 1 (host:port)". */
const char *control_peer_name(const struct control *control, int rank);

#endif
