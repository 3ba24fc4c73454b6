/* The control connections of a group: one to every other member. A struct control numbers the calls
 * of the group, and detects members that are lost, silent, late or in another call. It also carries
 * small collectives: calls in which every member sends one contribution of at most WIRE_FRAME_MAX
 * bytes to every other member. A transport moves all other data. While a transport waits, it calls
 * control_wait() or control_watch(), so that failures are detected and named in one place for all
 * transports. Called by group, by formation, by the collectives and by the transports, on the
 * thread that makes the calls of the group. Control connections make progress only inside these
 * functions. */
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
    /* Called with the names of late members when they are reported, such as "worker 1 (host:port)"
     * or "data from worker 1 (host:port)". Called with NULL when the wait for them ends. May be
     * NULL. */
    void (*waiting)(void *context, const char *names);
    /* Called when this member has waited for `task` ("worker 1"), which began a call later than
     * this member. `ns` is the time waited since this function was last called for `task`, in
     * nanoseconds. May be NULL. */
    void (*waited)(void *context, const char *task, int64_t ns);
    void *context;
};

/* Takes the control connections from `connections`. The data connections stay there. The caller
 * frees the result with control_free(). */
struct control *control_new(const struct control_options *options,
                            struct connection_set *connections);
/* Closes the control connections. Unless the group is broken, first tells the other members that
 * this member leaves. NULL-safe; returns NULL. */
struct control *control_free(struct control *control);

/* Replaces options.timeout_ms. */
void control_set_timeout(struct control *control, int64_t timeout_ms);
/* Replaces options.peer_timeout_ms. */
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

/* Returns the state of a member. First reads all messages that the member has sent, which may break
 * the group. Called at the end of a group. */
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

/* Begins the next call of the group. Called by group before each collective, by formation for the
 * first call, and by shm for CONTROL_CALL_SHARE. `size` is the number of bytes of the data. If the
 * group is broken, fails with the error that broke it. Fails with ERR_UNAVAILABLE if a member has
 * left. */
int control_begin_call(struct control *control, enum control_call call, size_t size,
                       struct err *err);

/* A call as one member describes it to the others: its number in the group, its kind (enum
 * control_call), and the number of bytes of its data. */
struct control_call_note {
    uint64_t sequence, call, size;
};
/* Returns the description of the current call of this member. */
struct control_call_note control_current_call(const struct control *control);

/* Makes a small collective: sends `size` bytes (at most WIRE_FRAME_MAX) to every other member and
 * receives theirs. `size` must be the size that was passed to control_begin_call(). ret_all gets
 * `size` bytes per rank, including this member's own `data`. Fails only if the group breaks. */
int control_exchange(struct control *control, const void *data, size_t size, void *ret_all,
                     struct err *err);

/* Returns when every member has called it. The size of the call must be 0. */
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
 * timeout. If a member was late, attributes the time of the wait to that member. */
void control_progress(struct control *control);

/* Called in a call that is not a small collective: fails if a member has sent a contribution to a
 * small collective with the number of this call. */
int control_check_contributions(struct control *control, struct err *err);

/* ---- For transports that wait by themselves -------------------------------------------------- */

/* Must be called every few milliseconds while the transport waits for member `rank`. Handles the
 * control connections without blocking, and reports and fails like control_wait(). */
int control_watch(struct control *control, int rank, struct err *err);

/* Called after each sleep of the transport, with the time that it slept longer than requested. If
 * this time is so long that this process must have been suspended, it does not count towards the
 * timeouts of the other members. */
void control_note_oversleep(struct control *control, int64_t excess_ms);

/* Records that member `rank` has reached the current call. */
void control_note_arrival(struct control *control, int rank);

/* Records that member `rank` reached the current call `ns` nanoseconds later than this member. */
void control_count_wait(struct control *control, int rank, int64_t ns);

/* Ends the current wait without attributing its time to a member. */
void control_end_wait(struct control *control);

/* Called when member `rank` is in call `note` instead of the current call. First reads the control
 * connections, which may have an earlier reason; otherwise breaks the group like
 * control_mismatch(). Returns the error of the group. */
int control_refuse_call(struct control *control, int rank, const struct control_call_note *note,
                        struct err *err);

/* ---- Failures -------------------------------------------------------------------------------- */

/* Breaks the group, unless it is broken already. Keeps the error for this and all later calls, and
 * sends it to the other members, which may not detect the cause themselves. */
void control_break(struct control *control, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets `err` to the error that broke the group, and returns its negative code. */
int control_broken(const struct control *control, struct err *err);

/* Called when a data connection to member `rank` has failed. Waits briefly for a message with the
 * cause, then breaks the group. Returns the error of the group. */
int control_data_failed(struct control *control, int rank, int errnum, struct err *err);

/* Breaks the group because member `rank` is in call `note` instead of the current call. Returns the
 * error of the group. */
int control_mismatch(struct control *control, int rank, const struct control_call_note *note,
                     struct err *err);

/* Returns a name like "worker 1 (host:port)". */
const char *control_peer_name(const struct control *control, int rank);

#endif
