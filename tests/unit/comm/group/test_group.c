/* Tests the collectives with 1 to 7 processes, against a plain sum in the promised order. */
#include "base/mem.h"
#include "base/rand.h"
#include "comm/collective/collective.h"
#include "comm/transport/shared_memory.h"
#include "members.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { COUNT_MAX = 1 << 20, POOL = COUNT_MAX + 65536 };

static const size_t COUNTS[] = {0, 1, 2, 3, 7, 64, 1023, 4096, 4097, 16385, 100003, COUNT_MAX};

/* The numbers are made once and read by all members, because making all contributions in each
 * member took most of the time. Sums of these values round, so that the order shows in the bits. */
static float pool[POOL];

static int make_pool(void **state)
{
    struct rand rand;
    rand_init(&rand, 7);
    for (size_t i = 0; i < POOL; i++)
        pool[i] = (float)(rand_unit(&rand) * 2 - 1) * (float)(1 << (rand_next(&rand) % 20));
    return 0;
}

/* Returns the contribution of `rank` in a round: its own part of the pool. */
static const float *contribution(int rank, size_t round)
{
    size_t which = round * MEMBERS_MAX + (size_t)rank;
    return pool + which * 311 % (POOL - COUNT_MAX);
}

static void fill(float *data, size_t count, int rank, size_t round)
{
    memcpy(data, contribution(rank, round), count * sizeof(*data));
}

/* The order of halving and doubling. If the number of members is not a power of two, the first
 * members pair up. Then members add up whose index differs in one bit: halving goes from the
 * highest bit down, doubling from the lowest bit up. */
static float paired_sum(size_t round, size_t at, int members, bool doubling)
{
    float values[MEMBERS_MAX];
    int core = 1;
    while (core * 2 <= members)
        core *= 2;
    int pairs = members - core;
    for (int i = 0; i < core; i++)
        values[i] = i < pairs ? contribution(2 * i, round)[at] + contribution(2 * i + 1, round)[at]
                              : contribution(i + pairs, round)[at];
    for (int step = 1; step < core; step *= 2) {
        int bit = doubling ? step : core / 2 / step;
        float before[MEMBERS_MAX];
        memcpy(before, values, sizeof(before));
        for (int i = 0; i < core; i++)
            values[i] = before[i] + before[i ^ bit];
    }
    return values[0];
}

/* The specification: chunk c of the ring starts at rank c; shared and direct start at rank 0. */
static void reference_sum(const struct comm_group *group, float *sum, size_t count, size_t round)
{
    int members = comm_group_size(group);
    const float *all[MEMBERS_MAX];
    for (int rank = 0; rank < members; rank++)
        all[rank] = contribution(rank, round);
    const char *name = comm_allreduce_choice(group, count)->name;
    bool ring = strcmp(name, "ring") == 0, doubling = strcmp(name, "doubling") == 0;
    bool paired = doubling || strcmp(name, "halving") == 0;
    for (size_t i = 0; paired && i < count; i++)
        sum[i] = paired_sum(round, i, members, doubling);
    size_t base = count / (size_t)members, more = count % (size_t)members, at = 0;
    for (int chunk = 0; !paired && chunk < members; chunk++) {
        size_t end = at + base + ((size_t)chunk < more);
        for (; at < end; at++) {
            int first = ring ? chunk : 0;
            sum[at] = all[first][at];
            for (int i = 1; i < members; i++)
                sum[at] += all[(first + i) % members][at];
        }
    }
}

/* The transport of the members that are started next. */
static enum comm_transport transport;

static struct comm_group *join(const struct members *members, int rank, int channels,
                               bool with_chief)
{
    struct ty_tf_config *config = members_config(members, with_chief, rank);
    struct comm_options options = members_options(config);
    options.channels = channels;
    options.transport = transport;
    struct comm_group *group = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(comm_group_open(&options, &group, &err), &err);
    CHECK(comm_group_rank(group) == rank);
    CHECK(comm_group_size(group) == members->size);
    ty_tf_config_free(config);
    return group;
}

static void check_allreduce(struct comm_group *group)
{
    struct err err = ERR_INIT;
    for (size_t round = 0; round < ARRAY_SIZE(COUNTS); round++) {
        size_t count = COUNTS[round];
        float *data = mem_calloc(count, sizeof(*data)), *sum = mem_calloc(count, sizeof(*sum));
        fill(data, count, comm_group_rank(group), round);
        reference_sum(group, sum, count, round);
        CHECK_OK(comm_allreduce_sum_f32(group, data, count, &err), &err);
        CHECK(memcmp(data, sum, count * sizeof(*data)) == 0);
        free(data);
        free(sum);
    }
}

static bool all_are(const char *data, size_t size, char value)
{
    return size == 0 || (data[0] == value && memcmp(data, data + 1, size - 1) == 0);
}

static void check_others(struct comm_group *group)
{
    struct err err = ERR_INIT;
    size_t members = (size_t)comm_group_size(group), rank = (size_t)comm_group_rank(group);
    for (size_t round = 0; round < ARRAY_SIZE(COUNTS); round++) {
        size_t size = COUNTS[round];
        char *data = mem_alloc(size);
        for (size_t root = 0; root < members; root++) {
            memset(data, rank == root ? (int)(round + root) + 1 : 0xee, size);
            CHECK_OK(comm_broadcast(group, (int)root, data, size, &err), &err);
            CHECK(all_are(data, size, (char)(round + root + 1)));
        }
        char *all = mem_alloc(size * members);
        memset(data, (int)(rank + round), size);
        CHECK_OK(comm_allgather(group, data, size, all, &err), &err);
        for (size_t from = 0; from < members; from++)
            CHECK(all_are(all + from * size, size, (char)(from + round)));
        free(data);
        free(all);
        CHECK_OK(comm_barrier(group, &err), &err);
    }
}

static void one_channel(const struct members *members, int rank)
{
    struct comm_group *group = join(members, rank, 1, true);
    check_allreduce(group);
    check_others(group);
    comm_group_free(group);
}

static void three_channels(const struct members *members, int rank)
{
    struct comm_group *group = join(members, rank, 3, false);
    check_allreduce(group);
    check_others(group);
    comm_group_free(group);
}

static void run(int size, void (*member)(const struct members *, int))
{
    struct members members;
    members_init(&members, size);
    members_start_all(&members, member);
    assert_int_equal(members_wait(&members), 0);
}

static const int SIZES[] = {1, 2, 3, 4, 7, 8};

static void sums_are_the_same_bits_for_all_sizes(void **state)
{
    transport = COMM_TRANSPORT_TCP;
    for (size_t i = 0; i < ARRAY_SIZE(SIZES); i++)
        run(SIZES[i], one_channel);
}

static void shared_sums_are_the_same_bits_for_all_sizes(void **state)
{
    transport = COMM_TRANSPORT_AUTO;
    for (size_t i = 0; i < ARRAY_SIZE(SIZES); i++)
        run(SIZES[i], one_channel);
}

/* Data in memory that is shared as a whole, at the same offset in all members and at different
 * ones. */
static void in_shared_memory(const struct members *members, int rank)
{
    enum { FLOATS = (1 << 20) + 64 };
    struct comm_group *group = join(members, rank, 1, true);
    struct shared_memory *memory = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(shared_memory_new("test", FLOATS * sizeof(float), &memory, &err), &err);
    CHECK_OK(comm_group_share(group, memory, &err), &err);
    for (size_t round = 0; round < 2 * ARRAY_SIZE(COUNTS); round++) {
        size_t count = COUNTS[round / 2];
        float *data = (float *)memory->at + (round % 2 ? 3 * rank : 17);
        float *sum = mem_calloc(count, sizeof(*sum));
        fill(data, count, rank, round);
        reference_sum(group, sum, count, round);
        CHECK_OK(comm_allreduce_sum_f32(group, data, count, &err), &err);
        CHECK(memcmp(data, sum, count * sizeof(*data)) == 0);
        free(sum);
    }
    comm_group_free(group);
    shared_memory_free(memory);
}

static void sums_in_place_are_the_same_bits(void **state)
{
    transport = COMM_TRANSPORT_AUTO;
    for (size_t i = 0; i < ARRAY_SIZE(SIZES); i++)
        run(SIZES[i], in_shared_memory);
    transport = COMM_TRANSPORT_TCP;
    run(2, in_shared_memory);
}

static void several_channels_give_the_same_sums(void **state)
{
    transport = COMM_TRANSPORT_TCP;
    run(2, three_channels);
    run(3, three_channels);
}

/* The number of connections of this process that the kernel does not pace. */
static int count_unpaced(void)
{
    int unpaced = 0;
    for (int fd = 0; fd < 1024; fd++) {
        char name[16] = "";
        socklen_t size = sizeof(name) - 1;
        struct sockaddr_storage peer;
        socklen_t peer_size = sizeof(peer);
        if (getpeername(fd, (struct sockaddr *)&peer, &peer_size) == 0 &&
            getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size) == 0)
            unpaced += strcmp(name, "reno") == 0;
    }
    return unpaced;
}

static void check_pacing(const struct members *members, int rank)
{
    struct err err = ERR_INIT;
    struct comm_group *group = join(members, rank, 3, false);
    CHECK(count_unpaced() >= 3 + 3 + members->size - 1); /* left, right, pairs */
    CHECK_OK(comm_barrier(group, &err), &err);           /* no member leaves before */
    comm_group_free(group);
}

static void data_within_a_machine_is_not_paced(void **state)
{
    transport = COMM_TRANSPORT_TCP;
    run(3, check_pacing);
}

/* Small calls in a row, which members finish at different times: the next contribution of a
 * member must not be taken for the current one. */
static void many_small(const struct members *members, int rank)
{
    struct comm_group *group = join(members, rank, 1, true);
    struct err err = ERR_INIT;
    for (int i = 0; i < 500; i++) {
        float value = (float)(rank + i);
        CHECK_OK(comm_allreduce_sum_f32(group, &value, 1, &err), &err);
        CHECK((int)value == members->size * i + members->size * (members->size - 1) / 2);
        int word = rank == 0 ? i : -1;
        CHECK_OK(comm_broadcast(group, 0, &word, sizeof(word), &err), &err);
        CHECK(word == i);
    }
    comm_group_free(group);
}

static void small_calls_keep_their_order(void **state)
{
    transport = COMM_TRANSPORT_TCP;
    run(4, many_small);
    transport = COMM_TRANSPORT_AUTO;
    run(4, many_small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_the_same_bits_for_all_sizes),
        cmocka_unit_test(shared_sums_are_the_same_bits_for_all_sizes),
        cmocka_unit_test(sums_in_place_are_the_same_bits),
        cmocka_unit_test(several_channels_give_the_same_sums),
        cmocka_unit_test(data_within_a_machine_is_not_paced),
        cmocka_unit_test(small_calls_keep_their_order),
    };
    return cmocka_run_group_tests(tests, make_pool, NULL);
}
