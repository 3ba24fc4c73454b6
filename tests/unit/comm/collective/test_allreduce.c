/* Tests every all-reduce algorithm with groups of 1 to 8 members on one to three pretended hosts.
 * The result is compared with a plain sum, and must have the same bits on all members and in the
 * next run. */
#include "base/mem.h"
#include "base/rand.h"
#include "comm/collective/collective.h"
#include "comm/transport/reduce.h"
#include "comm/transport/shared_memory.h"
#include "members.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const size_t COUNTS[] = {1, 5, 1000, 4099, 70001, 300007};
enum { MOST = 300007 };

/* The configuration of the members that the test starts. */
static struct {
    int hosts;   /* number of pretended hosts: a rank's host is rank modulo this, or by halves */
    bool mixed;  /* the ranks of one host are not contiguous */
    bool shared; /* the data is in memory that is shared as a whole */
    enum comm_wire wire;
    enum comm_transport transport;
    const char *algorithm; /* NULL: chosen by the group */
} plan;

/* Small whole numbers, whose sums are exact in any order. */
static float whole_number(int rank, size_t i)
{
    return (float)((i * 7 + (size_t)rank * 13) % 101) - 50;
}

/* Sums of these values round, so that the order shows in the bits. */
static float fraction(int rank, size_t i)
{
    struct rand rand;
    rand_init_keyed(&rand, (uint64_t)rank, i, 3);
    return (float)(rand_unit(&rand) * 2 - 1) * (float)(1 << (i % 20));
}

static struct comm_group *join(const struct members *members, int rank)
{
    static const char *const NAMES[] = {"a", "b", "c"};
    struct ty_tf_config *config = members_config(members, true, rank);
    struct comm_options options = members_options(config);
    int host = plan.mixed ? rank % plan.hosts : rank * plan.hosts / members->size;
    options.pretended_host = NAMES[host];
    options.transport = plan.transport;
    options.wire = plan.wire;
    struct comm_group *group = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(comm_group_open(&options, &group, &err), &err);
    ty_tf_config_free(config);
    return group;
}

/* Checks that every member has the bits of rank 0. */
static void check_same_bits(struct comm_group *group, const float *data, size_t count)
{
    struct err err = ERR_INIT;
    float *first = mem_calloc(count, sizeof(*first));
    memcpy(first, data, count * sizeof(*first));
    CHECK_OK(comm_broadcast(group, 0, first, count * sizeof(*first), &err), &err);
    CHECK(memcmp(first, data, count * sizeof(*first)) == 0);
    free(first);
}

static int sum(struct comm_group *group, float *data, size_t count, struct err *err)
{
    return plan.algorithm ? comm_allreduce_with(group, collective_allreduce_by_name(plan.algorithm),
                                                data, count, err)
                          : comm_allreduce_sum_f32(group, data, count, err);
}

static void check_count(struct comm_group *group, float *data, size_t count)
{
    struct err err = ERR_INIT;
    int size = comm_group_size(group), rank = comm_group_rank(group);
    float *once = mem_calloc(count, sizeof(*once));
    for (size_t i = 0; i < count; i++)
        data[i] = whole_number(rank, i);
    CHECK_OK(sum(group, data, count, &err), &err);
    for (size_t i = 0; i < count; i++) {
        float wanted = 0;
        for (int other = 0; other < size; other++)
            wanted += whole_number(other, i);
        /* Each of at most 2 log n roundings costs 2^-8 of the value. */
        float allowed = plan.wire == COMM_WIRE_BF16 ? 50.0f * (float)size / 32 : 0;
        CHECK(fabsf(data[i] - wanted) <= allowed);
    }
    for (int run = 0; run < 2; run++) {
        for (size_t i = 0; i < count; i++)
            data[i] = fraction(rank, i);
        CHECK_OK(sum(group, data, count, &err), &err);
        check_same_bits(group, data, count);
        if (run == 0)
            memcpy(once, data, count * sizeof(*once));
        CHECK(memcmp(once, data, count * sizeof(*once)) == 0);
    }
    free(once);
}

static void member(const struct members *members, int rank)
{
    struct comm_group *group = join(members, rank);
    struct shared_memory *memory = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(shared_memory_new("test", MOST * sizeof(float), &memory, &err), &err);
    float *own = mem_calloc(MOST, sizeof(*own));
    if (plan.shared)
        CHECK_OK(comm_group_share(group, memory, &err), &err);
    for (size_t i = 0; i < ARRAY_SIZE(COUNTS); i++)
        if (!plan.algorithm ||
            comm_allreduce_can(group, collective_allreduce_by_name(plan.algorithm), COUNTS[i]))
            check_count(group, plan.shared ? memory->at : own, COUNTS[i]);
    comm_group_free(group);
    shared_memory_free(memory);
    free(own);
}

static void run(int size)
{
    struct members members;
    members_init(&members, size);
    members_start_all(&members, member);
    assert_int_equal(members_wait(&members), 0);
}

static void over_tcp(const char *algorithm, enum comm_wire wire)
{
    static const int SIZES[] = {1, 2, 3, 4, 5, 7, 8};
    memset(&plan, 0, sizeof(plan));
    plan.hosts = 1;
    plan.transport = COMM_TRANSPORT_TCP;
    plan.algorithm = algorithm;
    plan.wire = wire;
    for (size_t i = 0; i < ARRAY_SIZE(SIZES); i++)
        run(SIZES[i]);
}

static void direct(void **state)
{
    over_tcp("direct", COMM_WIRE_F32);
}

static void doubling(void **state)
{
    over_tcp("doubling", COMM_WIRE_F32);
}

static void halving(void **state)
{
    over_tcp("halving", COMM_WIRE_F32);
}

static void ring(void **state)
{
    over_tcp("ring", COMM_WIRE_F32);
}

static void chosen_by_the_group(void **state)
{
    over_tcp(NULL, COMM_WIRE_F32);
}

static void ring_in_bf16(void **state)
{
    over_tcp("ring", COMM_WIRE_BF16);
}

static void halving_in_bf16(void **state)
{
    over_tcp("halving", COMM_WIRE_BF16);
}

static void over_hosts(bool shared, enum comm_wire wire)
{
    memset(&plan, 0, sizeof(plan));
    plan.algorithm = "hierarchical";
    plan.shared = shared;
    plan.wire = wire;
    for (plan.hosts = 2; plan.hosts <= 3; plan.hosts++)
        for (int mixed = 0; mixed < 2; mixed++) {
            plan.mixed = mixed;
            run(plan.hosts + 1);
            run(5);
            run(8);
        }
}

static void several_hosts(void **state)
{
    over_hosts(false, COMM_WIRE_F32);
}

static void several_hosts_in_place(void **state)
{
    over_hosts(true, COMM_WIRE_F32);
    plan.hosts = 2;
    plan.algorithm = NULL; /* the group chooses it, and all other algorithms work as well */
    run(4);
    plan.algorithm = "ring";
    run(4);
}

static void several_hosts_in_bf16(void **state)
{
    over_hosts(true, COMM_WIRE_BF16);
}

static void rounding_to_bf16_is_to_nearest_even(void **state)
{
    static const struct {
        uint32_t bits;
        uint16_t wanted;
    } CASES[] = {
        {0x3f800000, 0x3f80}, {0x3f808000, 0x3f80}, /* half way: rounded to even */
        {0x3f818000, 0x3f82}, {0x3f808001, 0x3f81}, {0xbf80ffff, 0xbf81}, {0x7f7fffff, 0x7f80},
        {0x7f800000, 0x7f80}, {0x7f800001, 0x7fc0}, {0xffffffff, 0xffff}, {0x00000000, 0x0000},
        {0x80000000, 0x8000}, {0x00008001, 0x0001},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        float value, back, added = 1;
        uint16_t bits;
        memcpy(&value, &CASES[i].bits, sizeof(value));
        reduce_narrow_bf16(&bits, &value, 1);
        assert_int_equal(bits, CASES[i].wanted);
        reduce_widen_bf16(&back, &bits, 1);
        uint32_t word;
        memcpy(&word, &back, sizeof(word));
        assert_int_equal(word, (uint32_t)CASES[i].wanted << 16);
        reduce_add_bf16(&added, &bits, 1);
        assert_true(added == 1 + back || isnan(back));
    }
}

/* One member sends half the bytes that another expects. */
static void other_wire(const struct members *members, int rank)
{
    plan.wire = rank == 1 ? COMM_WIRE_BF16 : COMM_WIRE_F32;
    struct comm_group *group = join(members, rank);
    struct err err = ERR_INIT;
    float *data = mem_calloc(MOST, sizeof(*data));
    int result = 0;
    for (int i = 0; i < 2 && result == 0; i++)
        result = comm_allreduce_sum_f32(group, data, MOST, &err);
    CHECK(result < 0);
    CHECK_TEXT(err.message, "give all tasks the same wire format");
    comm_group_free(group);
    free(data);
}

static void members_with_different_wire_formats_fail(void **state)
{
    memset(&plan, 0, sizeof(plan));
    plan.hosts = 1;
    plan.transport = COMM_TRANSPORT_TCP;
    struct members members;
    members_init(&members, 3);
    members_start_all(&members, other_wire);
    assert_int_equal(members_wait(&members), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(direct),
        cmocka_unit_test(doubling),
        cmocka_unit_test(halving),
        cmocka_unit_test(ring),
        cmocka_unit_test(chosen_by_the_group),
        cmocka_unit_test(ring_in_bf16),
        cmocka_unit_test(halving_in_bf16),
        cmocka_unit_test(several_hosts),
        cmocka_unit_test(several_hosts_in_place),
        cmocka_unit_test(several_hosts_in_bf16),
        cmocka_unit_test(rounding_to_bf16_is_to_nearest_even),
        cmocka_unit_test(members_with_different_wire_formats_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
