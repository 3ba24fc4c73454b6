/* Which workers a parameter server has not seen yet: what it says about them, and for how long it
 * waits for the first. Knows no socket and no clock. Used by ps_server. */
#ifndef TRAINYARD_COMM_PS_WAIT_H
#define TRAINYARD_COMM_PS_WAIT_H

#include "comm/ps/member.h"

struct ps_wait {
    const struct ps_member *member; /* outlives it */
    bool *came;                     /* by rank */
    bool somebody;
    int64_t began, next; /* next: when lines are due */
    int64_t every_ms, timeout_ms;
};

/* every_ms between lines, 0: 5 seconds, and twelve times that once somebody came; timeout_ms until
 * the first comes, 0: for ever. */
void ps_wait_init(struct ps_wait *wait, const struct ps_member *member, int64_t every_ms,
                  int64_t timeout_ms, int64_t now);
void ps_wait_release(struct ps_wait *wait); /* safe on zeroed memory */

void ps_wait_excuse(struct ps_wait *wait, uint32_t worker); /* it is done already */
void ps_wait_came(struct ps_wait *wait, uint32_t worker);

/* Say what is due; ERR_TIMEOUT: nobody came, as it says by name. */
int ps_wait_check(struct ps_wait *wait, int64_t now, struct err *err);
int64_t ps_wait_due(const struct ps_wait *wait); /* when to check again; INT64_MAX: never */

#endif
