/* Tracks the workers that have not connected to a parameter server yet: reports them, and limits
 * the wait for the first worker. Uses no socket and no clock. Called by ps_server. */
#ifndef TRAINYARD_COMM_PS_WAIT_H
#define TRAINYARD_COMM_PS_WAIT_H

#include "comm/ps/member.h"

struct ps_wait {
    const struct ps_member *member; /* must outlive the ps_wait */
    bool *connected;     /* by rank: the worker has connected, or had finished before the wait */
    bool any_connected;  /* at least one worker has connected */
    int64_t began;       /* when the wait began (monotonic, ms) */
    int64_t next_report; /* when the next report is due (monotonic, ms) */
    int64_t every_ms;    /* interval between reports */
    int64_t timeout_ms;  /* limit for the wait for the first worker; 0: no limit */
};

/* Starts the wait at the time `now` (monotonic, ms). Missing workers are reported every `every_ms`
 * (0: 5 seconds), and every 12 × `every_ms` after the first worker has connected. The first worker
 * must connect within `timeout_ms`; 0: no limit. */
void ps_wait_init(struct ps_wait *wait, const struct ps_member *member, int64_t every_ms,
                  int64_t timeout_ms, int64_t now);
void ps_wait_release(struct ps_wait *wait); /* safe on zeroed memory */

/* Records that the worker had finished before the wait, so that it does not count as missing. */
void ps_wait_set_finished(struct ps_wait *wait, uint32_t worker);
/* Records that the worker has connected. */
void ps_wait_set_connected(struct ps_wait *wait, uint32_t worker);

/* Reports the missing workers if a report is due. If no worker has connected within `timeout_ms`,
 * fails with ERR_TIMEOUT and the names of the missing workers. */
int ps_wait_check(struct ps_wait *wait, int64_t now, struct err *err);
/* Returns when to call ps_wait_check() again (monotonic, ms), or INT64_MAX if no worker is missing.
 */
int64_t ps_wait_due(const struct ps_wait *wait);

#endif
