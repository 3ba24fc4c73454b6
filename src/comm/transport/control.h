/* The control plane of a group: one control connection to every other member. It numbers the calls
 * of the group, carries the contributions of small collectives, and detects members that are lost,
 * silent, late or in another call. A transport moves the data; it reports to the control plane
 * while it waits, so that failures are detected and named in one place for all transports. Called
 * by group, by the collectives and by the transports. It runs on the thread that makes the calls of
 * the group and makes progress only inside its functions. */
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
    const struct ty_task *tasks; /* by rank; control_new() copies what it needs */
    int rank, size;
    int64_t timeout_ms;      /* a call that makes no progress for this long fails */
    int64_t report_ms;       /* interval between two reports about late members */
    int64_t peer_timeout_ms; /* a member that does not answer for this long is lost; 0: never */
    /* Once it is not 0, a call ends instead of waiting longer than report_ms for a late member. May
     * be NULL. */
    const volatile sig_atomic_t *stop;
    void (*report)(void *context, const char *line); /* may be NULL */
    /* Called with the names of late members, as "worker 1 (host:port)", when they are reported, and
     * with NULL when the wait for them ends. May be NULL. */
    void (*waiting)(void *context, const char *names);
    /* Called with the additional nanoseconds that this member waited for `task` ("worker 1"), which
     * came late to a call. May be NULL. */
    void (*waited)(void *context, const char *task, int64_t ns);
    void *context;
};

/* Takes the control connections out of `connections`, and leaves the others. */
struct control *control_new(const struct control_options *options,
                            struct connection_set *connections);
/* Tells the other members that this one leaves, unless the group is broken. NULL-safe; returns
 * NULL. */
struct control *control_free(struct control *control);

/* Replace the values of the options. */
void control_set_timeout(struct control *control, int64_t timeout_ms);
void control_set_peer_timeout(struct control *control, int64_t timeout_ms);

int control_rank(const struct control *control);
int control_size(const struct control *control);

/* What became of a member, as its control connection shows it. */
enum peer_outcome {
    PEER_CONNECTED, /* the connection still stands */
    PEER_LOST,      /* the connection broke without a goodbye: the process ended */
    PEER_SILENT,    /* the member stopped answering; its process may still run */
    PEER_LEFT,      /* the member left this group on purpose and may join the next one */
};

/* Reads what the member has sent before it answers. Meant for a broken group. */
enum peer_outcome control_peer_outcome(struct control *control, int rank);
/* Whether the other members continue without this one, because it did not answer, or may do so. */
bool control_is_expelled(const struct control *control);

/* The kinds of calls. Members compare them, so that two different calls are never mixed up. */
enum control_call {
    CONTROL_CALL_JOIN = 1, /* the first call: ends when every member is connected to every other */
    CONTROL_CALL_ALLREDUCE,
    CONTROL_CALL_BROADCAST,
    CONTROL_CALL_ALLGATHER,
    CONTROL_CALL_BARRIER,
    CONTROL_CALL_SHARE, /* members that share a machine find each other and share memory */
    CONTROL_CALLS,
};

/* Starts the next call; every collective begins with it. Fails with the error that broke the group,
 * if it is broken. */
int control_begin_call(struct control *control, enum control_call call, size_t size,
                       struct err *err);

/* The current call, as members describe it to each other. */
struct control_call_note {
    uint64_t sequence, call, size;
};
struct control_call_note control_current_call(const struct control *control);

/* Sends `size` bytes (at most WIRE_FRAME_MAX) to every other member and receives theirs. ret_all
 * has `size` bytes per rank and includes this member's own. */
int control_exchange(struct control *control, const void *data, size_t size, void *ret_all,
                     struct err *err);

/* Returns when every member has called it. */
int control_barrier(struct control *control, struct err *err);

/* The code of the error that broke the group; ERR_NONE if it is not broken. */
enum err_code control_broken_code(const struct control *control);

/* Passes a formatted line to options.report. */
void control_report(const struct control *control, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- For transports that wait on descriptors ------------------------------------------------- */

/* Room for `count` descriptors of the transport, which control_wait() polls together with the
 * control connections. The pointer stays valid until the next reservation. */
struct pollfd *control_reserve_polls(struct control *control, size_t count);

/* Waits until one of the first `count` reserved descriptors or a control connection is ready,
 * handles the latter, and sends the pings and reports that are due. Returns 0 also if only time has
 * passed; the caller tries again. Fails if the group breaks. */
int control_wait(struct control *control, size_t count, struct err *err);

/* Names the member whose data the following waits are for. */
void control_expect(struct control *control, int rank);

/* The first byte of member `rank` in this call has arrived: ends the wait, and counts it against
 * the member that was late. */
void control_peer_arrived(struct control *control, int rank);

/* Data moved: ends the current wait, so that the next one starts with the full timeout. */
void control_progress(struct control *control);

/* Fails if a member has sent a small contribution to the current call, which is not one of those.
 */
int control_check_contributions(struct control *control, struct err *err);

/* ---- For transports that wait by themselves -------------------------------------------------- */

/* To be called every few milliseconds while the transport waits for member `rank`. Handles the
 * control connections without blocking, and reports and fails as control_wait() does. */
int control_watch(struct control *control, int rank, struct err *err);

/* The transport slept `excess_ms` longer than it asked the kernel for: this time does not count
 * against the other members. */
void control_forgive_oversleep(struct control *control, int64_t excess_ms);

/* Member `rank` has reached the current call. */
void control_note_arrival(struct control *control, int rank);

/* Member `rank` reached the current call so many nanoseconds later than this one. */
void control_count_wait(struct control *control, int rank, int64_t ns);

/* The wait is over, and counts against no member. */
void control_end_wait(struct control *control);

/* Member `rank` is in call `note` instead of the current one: breaks the group, and returns its
 * error. */
int control_refuse_call(struct control *control, int rank, const struct control_call_note *note,
                        struct err *err);

/* ---- Failures -------------------------------------------------------------------------------- */

/* Breaks the group unless it is broken: keeps the error for this and all later calls, and sends it
 * to the other members, which may not see the cause themselves. */
void control_break(struct control *control, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets `err` to the error that broke the group, and returns its negative code. */
int control_broken(const struct control *control, struct err *err);

/* A data connection to member `rank` failed. Waits briefly for a member that explains it, then
 * breaks the group. Returns the group's error. */
int control_data_failed(struct control *control, int rank, int errnum, struct err *err);

/* Breaks the group because member `rank` makes another call than this one; see control_refuse_call.
 */
int control_mismatch(struct control *control, int rank, const struct control_call_note *note,
                     struct err *err);

/* "worker 1 (host:port)" */
const char *control_peer_name(const struct control *control, int rank);

#endif
