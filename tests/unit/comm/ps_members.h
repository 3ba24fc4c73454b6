/* Parameter servers and their workers as real processes on the loopback, for tests. Ranks: workers
 * first, then servers. What is called ps_members_check… and the like runs in a member. */
#ifndef TRAINYARD_TESTS_COMM_PS_MEMBERS_H
#define TRAINYARD_TESTS_COMM_PS_MEMBERS_H

#include "base/buf.h"
#include "comm/ps/ps.h"
#include "members.h"

#include <signal.h>

enum { DIMENSIONS = 4, DENSE = 1001, IDS = 500, STEPS = 40 };

struct ps_run {
    int workers, servers;
    char directory[256]; /* of snapshots; "": none */
    int told[2];         /* what a worker tells the test: one byte a time */
    int go_on[2];        /* what the test tells a worker */
    struct buf lines;    /* what this process was told in reports */
    volatile sig_atomic_t stop;
};
extern struct ps_run ps_run;

struct ty_tf_config *ps_members_config_of(const struct members *members, int rank);
void ps_members_note(void *context, const char *line); /* into ps_run.lines */
void ps_members_serve(const struct members *members, int rank);

/* NULL and the reason where it is refused; ps_members_join_well() is not. */
struct ps_client *ps_members_join(const struct members *members, int rank, uint64_t shape,
                                  const char *secret, struct err *err);
struct ps_client *ps_members_join_well(const struct members *members, int rank);
void ps_members_open_all(struct ps_client *client); /* a dense vector and two tables */

/* Every value goes up by 1, row i's by i + 1: exact in floats, whatever the order. */
void ps_members_step(struct ps_client *client);
/* How many steps the values stand for: in the rows, in the dense vector, in both. */
void ps_members_check_rows(struct ps_client *client, float least, float most);
void ps_members_check_dense(struct ps_client *client, float least, float most);
void ps_members_check_values(struct ps_client *client, float least, float most);

void ps_members_finish(struct ps_client *client);
void ps_members_wait_for_all(struct ps_client *client);
void ps_members_tell(void); /* the test, which listens */
void ps_members_listen_to_worker(void);

void ps_members_make_directory(void);
void ps_members_remove_directory(void);

void ps_members_run_all(int worker_count, int server_count,
                        void (*worker)(const struct members *, int));

#endif
