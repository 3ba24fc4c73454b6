/* Several processes that form a group on the loopback, for tests. Each member runs in a child of
 * the test and exits with 0 on success. cmocka's asserts do not work in a child; CHECK does. */
#ifndef TRAINYARD_TESTS_UNIT_COMM_MEMBERS_H
#define TRAINYARD_TESTS_UNIT_COMM_MEMBERS_H

#include "comm/group/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

#define CHECK_OK(call, err)                                                                        \
    do {                                                                                           \
        if ((call) < 0) {                                                                          \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, (err)->message);         \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

#define CHECK_TEXT(text, part)                                                                     \
    do {                                                                                           \
        if (!strstr((text), (part))) {                                                             \
            fprintf(stderr, "%s:%d: no '%s' in '%s'\n", __FILE__, __LINE__, (part), (text));       \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

enum { MEMBERS_MAX = 8 };

struct members {
    int size;
    int ports[MEMBERS_MAX];
    pid_t children[MEMBERS_MAX];
};

/* Chooses free ports that no other test chooses while this process runs. */
void members_init(struct members *members, int size);

/* Returns the cluster description for one rank: a chief (if with_chief) and workers on 127.0.0.1.
 * The caller frees it. */
struct ty_tf_config *members_config(const struct members *members, bool with_chief, int rank);

/* Returns defaults for a test: a secret, early reports of waits, and timeouts that are long enough
 * for a busy machine. Connections are encrypted if TRAINYARD_TEST_ENCRYPT is set. */
struct comm_options members_options(const struct ty_tf_config *config);

/* Runs `member` in a child process for one rank, or for all ranks. members_wait() returns the
 * number of children that failed. */
void members_start(struct members *members, int rank,
                   void (*member)(const struct members *members, int rank));
void members_start_all(struct members *members,
                       void (*member)(const struct members *members, int rank));
int members_wait(struct members *members);

#endif
