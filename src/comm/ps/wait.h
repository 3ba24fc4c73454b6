/* The workers that a parameter server still waits for: it reports them, and limits the wait for the
 * first one. Uses no socket and no clock. Called by ps_server. */
#ifndef TRAINYARD_COMM_PS_WAIT_H
#define TRAINYARD_COMM_PS_WAIT_H

#include "comm/ps/member.h"

struct ps_wait {
    const struct ps_member *member; /* must outlive this */
    bool *came;                     /* by rank: the worker has connected or is finished */
    bool any_came;                  /* at least one worker has connected */
    int64_t began, next;            /* when the wait began, and when the next report is due */
    int64_t every_ms, timeout_ms;
};

/* Reports missing workers every `every_ms` (0: 5 seconds), and twelve times as rarely once a worker
 * has connected. The first worker must connect within `timeout_ms`; 0: no limit. */
void ps_wait_init(struct ps_wait *wait, const struct ps_member *member, int64_t every_ms,
                  int64_t timeout_ms, int64_t now);
void ps_wait_release(struct ps_wait *wait); /* safe on zeroed memory */

/* The worker is already finished, so it is not waited for. */
void ps_wait_excuse(struct ps_wait *wait, uint32_t worker);
/* The worker has connected. */
void ps_wait_came(struct ps_wait *wait, uint32_t worker);

/* Makes the report that is due. Fails with ERR_TIMEOUT and the names of the workers if none has
 * connected in time. */
int ps_wait_check(struct ps_wait *wait, int64_t now, struct err *err);
/* When to call ps_wait_check() again; INT64_MAX: never. */
int64_t ps_wait_due(const struct ps_wait *wait);

#endif
