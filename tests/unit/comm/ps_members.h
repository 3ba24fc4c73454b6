/* Parameter servers and their workers as real processes on the loopback, for tests. Workers have
 * the first ranks, then the servers. All functions that take a client run in a member. */
#ifndef TRAINYARD_TESTS_UNIT_COMM_PS_MEMBERS_H
#define TRAINYARD_TESTS_UNIT_COMM_PS_MEMBERS_H

#include "base/buf.h"
#include "comm/ps/ps.h"
#include "members.h"

#include <signal.h>

enum { DIMENSIONS = 4, DENSE = 1001, IDS = 500, STEPS = 40 };

struct ps_run {
    int workers, servers;
    char directory[256]; /* for snapshots; "": none */
    int told[2];         /* from a worker to the test, one byte per message */
    int go_on[2];        /* from the test to a worker */
    struct buf lines;    /* the reports of this process */
    volatile sig_atomic_t stop;
};
extern struct ps_run ps_run;

struct ty_tf_config *ps_members_config_of(const struct members *members, int rank);
void ps_members_note(void *context, const char *line); /* appends to ps_run.lines */
void ps_members_serve(const struct members *members, int rank);

/* Returns the client. ps_members_join() returns NULL and the reason if it is rejected;
 * ps_members_join_well() must succeed. */
struct ps_client *ps_members_join(const struct members *members, int rank, uint64_t shape,
                                  const char *secret, struct err *err);
struct ps_client *ps_members_join_well(const struct members *members, int rank);
void ps_members_open_all(struct ps_client *client); /* opens a dense vector and two tables */

/* Adds 1 to every dense value and i + 1 to row i: exact in floats, in any order. */
void ps_members_step(struct ps_client *client);
/* Check that the values stand for `least` to `most` steps: in the rows, in the dense vector, or in
 * both. */
void ps_members_check_rows(struct ps_client *client, float least, float most);
void ps_members_check_dense(struct ps_client *client, float least, float most);
void ps_members_check_values(struct ps_client *client, float least, float most);

void ps_members_finish(struct ps_client *client);
void ps_members_wait_for_all(struct ps_client *client);
void ps_members_tell(void); /* sends a byte to the test */
void ps_members_listen_to_worker(void);

void ps_members_make_directory(void);
void ps_members_remove_directory(void);

void ps_members_run_all(int worker_count, int server_count,
                        void (*worker)(const struct members *, int));

#endif
