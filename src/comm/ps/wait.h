/* Tracks the workers that have not connected to a parameter server yet: reports them, and limits
 * the wait for the first worker. Uses no socket and no clock. Called by ps_server. */
#ifndef TRAINYARD_COMM_PS_WAIT_H
#define TRAINYARD_COMM_PS_WAIT_H

#include "comm/ps/member.h"

struct ps_wait {
    const struct ps_member *member; /* must outlive the ps_wait */
    bool *came;                     /* by rank: whether the worker has connected or finished */
    bool any_came;                  /* at least one worker has connected */
    int64_t began, next;            /* when the wait began, and when the next report is due */
    int64_t every_ms, timeout_ms;
};

/* Reports missing workers every `every_ms` (0: 5 seconds), and every 12 × `every_ms` after the
 * first worker has connected. The first worker must connect within `timeout_ms`; 0: no limit. */
void ps_wait_init(struct ps_wait *wait, const struct ps_member *member, int64_t every_ms,
                  int64_t timeout_ms, int64_t now);
void ps_wait_release(struct ps_wait *wait); /* safe on zeroed memory */

/* Records that the worker has finished already, so that its connection is not expected. */
void ps_wait_excuse(struct ps_wait *wait, uint32_t worker);
/* Records that the worker has connected. */
void ps_wait_came(struct ps_wait *wait, uint32_t worker);

/* Reports the missing workers if a report is due. If no worker has connected in time, fails with
 * ERR_TIMEOUT and the names of the workers. */
int ps_wait_check(struct ps_wait *wait, int64_t now, struct err *err);
/* Returns when to call ps_wait_check() again, or INT64_MAX for never. */
int64_t ps_wait_due(const struct ps_wait *wait);

#endif
