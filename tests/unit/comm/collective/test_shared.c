/* Tests memory shared between members of one machine: what a peer can and cannot do to it, which
 * members share, and what happens if sharing is not possible. */
#include "base/mem.h"
#include "base/system/file.h"
#include "comm/collective/collective.h"
#include "comm/transport/shared_memory.h"
#include "comm/transport/shm/host_links.h"
#include "members.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { FLOATS = 1 << 16, BYTES = FLOATS * (int)sizeof(float) };

static struct shared_memory *memory_new(void)
{
    struct shared_memory *memory = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(shared_memory_new("test", BYTES, &memory, &err), &err);
    return memory;
}

static void renewed_memory_keeps_its_address_but_not_its_peers(void **state)
{
    struct err err = ERR_INIT;
    struct shared_memory *memory = memory_new();
    void *peer = NULL, *at = memory->at;
    assert_int_equal(shared_memory_map_peer(memory->fd, BYTES, &peer, &err), 0);
    memset(peer, 1, BYTES);
    assert_int_equal(*(char *)memory->at, 1);
    memory->was_shared = true;
    assert_int_equal(shared_memory_renew(memory, &err), 0);
    assert_ptr_equal(memory->at, at);
    assert_false(memory->was_shared);
    memset(peer, 2, BYTES);
    for (int i = 0; i < BYTES; i++)
        assert_int_equal(((char *)memory->at)[i], 0);
    munmap(peer, BYTES);
    shared_memory_free(memory);
}

static void memory_that_can_shrink_is_rejected(void **state)
{
    struct err err = ERR_INIT;
    struct shared_memory *memory = memory_new();
    void *peer = NULL;
    assert_int_equal(ftruncate(memory->fd, 4096), -1); /* this memory cannot shrink */
    assert_int_equal(shared_memory_map_peer(memory->fd, BYTES + 1, &peer, &err), -ERR_INVALID);
    int open = memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(open, BYTES), 0);
    assert_int_equal(shared_memory_map_peer(open, BYTES, &peer, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "can shrink"));
    close(open);
    shared_memory_free(memory);
}

/* The configuration of the members that the test starts. */
static struct {
    const char *hosts[MEMBERS_MAX]; /* pretended, by rank */
    const char *dirs[MEMBERS_MAX];  /* directory of peers, by rank */
    const char *algorithm, *line;   /* expected; "": no line at all */
} plan;

static void note_line(void *context, const char *line)
{
    snprintf(context, 512, "%s", line);
}

static struct comm_group *join(const struct members *members, int rank, char *line)
{
    struct ty_tf_config *config = members_config(members, true, rank);
    struct comm_options options = members_options(config);
    options.pretended_host = plan.hosts[rank];
    options.report_ms = 10000;
    options.report = line ? note_line : NULL;
    options.context = line;
    if (plan.dirs[rank])
        setenv("TRAINYARD_PEERS_DIR", plan.dirs[rank], 1);
    struct comm_group *group = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(comm_group_open(&options, &group, &err), &err);
    ty_tf_config_free(config);
    return group;
}

/* Sums that show whether everything was added, whichever members share. */
static void sums(const struct members *members, int rank)
{
    char line[512] = "";
    struct comm_group *group = join(members, rank, line);
    struct shared_memory *memory = memory_new();
    struct err err = ERR_INIT;
    CHECK_OK(comm_group_share(group, memory, &err), &err);
    float *data = memory->at;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < FLOATS; i++)
            data[i] = (float)((rank + 1) * (i % 1000));
        CHECK_OK(comm_allreduce_sum_f32(group, data, FLOATS, &err), &err);
        for (int i = 0; i < FLOATS; i++)
            CHECK((int)data[i] == members->size * (members->size + 1) / 2 * (i % 1000));
    }
    CHECK(strcmp(comm_allreduce_choice(group, FLOATS)->name, plan.algorithm) == 0);
    if (plan.line[0])
        CHECK_TEXT(line, plan.line);
    else
        CHECK(line[0] == '\0');
    comm_group_free(group);
    shared_memory_free(memory);
}

static void run(int size, void (*member)(const struct members *, int))
{
    struct members members;
    members_init(&members, size);
    members_start_all(&members, member);
    assert_int_equal(members_wait(&members), 0);
}

static void members_of_one_host_share_memory(void **state)
{
    memset(&plan, 0, sizeof(plan));
    plan.algorithm = "shared";
    plan.line = "";
    run(3, sums);
}

static void members_of_different_hosts_share_no_memory(void **state)
{
    memset(&plan, 0, sizeof(plan));
    plan.algorithm = "ring";
    plan.line = "";
    plan.hosts[0] = "a";
    plan.hosts[1] = "b";
    run(2, sums);
}

/* Members find each other like pods: in a directory that both have. */
static void members_find_each_other_in_a_directory(void **state)
{
    char dir[] = "/tmp/trainyard-peers.XXXXXX";
    assert_non_null(mkdtemp(dir));
    memset(&plan, 0, sizeof(plan));
    plan.algorithm = "shared";
    plan.line = "";
    plan.dirs[0] = plan.dirs[1] = dir;
    run(2, sums);
    assert_int_equal(rmdir(dir), 0); /* no file is left */
}

/* The leader listens in a directory that another member does not have. */
static void tcp_is_used_and_reported_if_sharing_fails(void **state)
{
    char dir[] = "/tmp/trainyard-peers.XXXXXX";
    assert_non_null(mkdtemp(dir));
    memset(&plan, 0, sizeof(plan));
    plan.algorithm = "halving";
    plan.line = "using TCP instead";
    plan.dirs[0] = dir;
    plan.dirs[1] = plan.dirs[2] = "/nonexistent";
    run(3, sums);
    assert_int_equal(rmdir(dir), 0);
}

/* A member that was stopped in the middle of a sum continues to write after the others have
 * formed a new group; pipes tell it when. */
static int gone_on[2], written[2];

static void late_writer(const struct members *members, int rank)
{
    struct comm_group *group = join(members, rank, NULL);
    struct shared_memory *memory = memory_new();
    struct err err = ERR_INIT;
    char byte = 0;
    CHECK_OK(comm_group_share(group, memory, &err), &err);
    float *data = memory->at;
    if (rank == 1) {
        float *peer_shape_text = comm_group_peer_memory(group, 0, 0);
        peer_shape_text[5] = 6;
        CHECK_OK(comm_barrier(group, &err), &err);
        CHECK(read(gone_on[0], &byte, 1) == 1);
        for (int i = 0; i < FLOATS; i++)
            peer_shape_text[i] = 7;
        CHECK(write(written[1], &byte, 1) == 1);
        comm_group_free(group);
    } else {
        CHECK_OK(comm_barrier(group, &err), &err);
        CHECK(data[5] == 6); /* the late write arrives only now */
        comm_group_free(group);
        struct ty_tf_config *alone = NULL;
        CHECK_OK(ty_tf_config_parse("", &alone, NULL), &err);
        const struct comm_options options = {.config = alone, .secret = ""};
        CHECK_OK(comm_group_open(&options, &group, &err), &err);
        CHECK_OK(comm_group_share(group, memory, &err), &err);
        ty_tf_config_free(alone);
        for (int i = 0; i < FLOATS; i++)
            data[i] = 3;
        CHECK(write(gone_on[1], &byte, 1) == 1);
        CHECK(read(written[0], &byte, 1) == 1);
        for (int i = 0; i < FLOATS; i++)
            CHECK(data[i] == 3);
        comm_group_free(group);
    }
    shared_memory_free(memory);
}

/* A pipe: a member has reported that it waits for another. */
static int waited[2];
static bool is_sharing;

static void report_wait(void *context, const char *line)
{
    char byte = 0;
    if (strstr(line, "cannot share"))
        note_line(context, line);
    else if (is_sharing)
        CHECK(write(waited[1], &byte, 1) == 1);
}

/* The first member waits for the second, which comes after that wait is reported. */
static void share_late(const struct members *members, int rank)
{
    char line[512] = "", byte;
    struct ty_tf_config *config = members_config(members, true, rank);
    struct comm_options options = members_options(config);
    struct comm_group *group = NULL;
    struct shared_memory *memory = memory_new();
    struct err err = ERR_INIT;
    options.report = report_wait;
    options.context = line;
    CHECK_OK(comm_group_open(&options, &group, &err), &err);
    if (rank == 1)
        CHECK(read(waited[0], &byte, 1) == 1);
    is_sharing = true;
    CHECK_OK(comm_group_share(group, memory, &err), &err);
    CHECK(line[0] == '\0');
    CHECK(comm_group_peer_memory(group, 0, 1 - rank) != NULL);
    comm_group_free(group);
    shared_memory_free(memory);
    ty_tf_config_free(config);
}

static void a_late_member_is_waited_for_and_shares(void **state)
{
    assert_int_equal(pipe(waited), 0);
    run(2, share_late);
}

static void late_writes_do_not_reach_a_new_group(void **state)
{
    memset(&plan, 0, sizeof(plan));
    assert_int_equal(pipe(gone_on), 0);
    assert_int_equal(pipe(written), 0);
    run(2, late_writer);
}

/* A ninth memory cannot be shared, and the reason is reported. */
static void share_too_many(const struct members *members, int rank)
{
    char last[512] = "";
    struct ty_tf_config *config = members_config(members, true, rank);
    struct comm_options options = members_options(config);
    options.report_ms = 10000;
    options.report = note_line;
    options.context = last;
    struct comm_group *group = NULL;
    struct err err = ERR_INIT;
    struct shared_memory *memories[TRANSPORT_SHARED_MAX + 1];
    CHECK_OK(comm_group_open(&options, &group, &err), &err);
    for (int i = 0; i <= TRANSPORT_SHARED_MAX; i++) {
        CHECK(strstr(last, "cannot share") == NULL);
        memories[i] = memory_new();
        CHECK_OK(comm_group_share(group, memories[i], &err), &err);
    }
    CHECK_TEXT(last,
               "(8 memory regions are shared already, which is the limit): it is copied instead");
    comm_group_free(group);
    for (int i = 0; i <= TRANSPORT_SHARED_MAX; i++)
        shared_memory_free(memories[i]);
    ty_tf_config_free(config);
}

static void memories_beyond_the_limit_are_copied(void **state)
{
    struct members members;
    members_init(&members, 2);
    members_start_all(&members, share_too_many);
    assert_int_equal(members_wait(&members), 0);
}

static void a_host_with_too_many_members_shares_nothing_and_reports_it(void **state)
{
    enum { MANY = TRANSPORT_HOST_MAX + 3 };
    static const char *hosts[MANY];
    int leaders[MANY];
    struct host_links links = {.leaders = leaders};
    for (int i = 0; i < MANY; i++)
        hosts[i] = i < 2 ? "small" : "crowded";
    host_links_find(&links, hosts, MANY, 1);
    assert_int_equal(links.count, 2);
    assert_int_equal(links.on_machine, 2);
    assert_int_equal(links.failure.code, ERR_NONE);
    host_links_find(&links, hosts, MANY, 5);
    assert_int_equal(links.count, 1);
    assert_int_equal(links.on_machine, TRANSPORT_HOST_MAX + 1);
    assert_string_equal(links.failure.message,
                        "more than 128 members on one host cannot share memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renewed_memory_keeps_its_address_but_not_its_peers),
        cmocka_unit_test(memory_that_can_shrink_is_rejected),
        cmocka_unit_test(members_of_one_host_share_memory),
        cmocka_unit_test(members_of_different_hosts_share_no_memory),
        cmocka_unit_test(members_find_each_other_in_a_directory),
        cmocka_unit_test(tcp_is_used_and_reported_if_sharing_fails),
        cmocka_unit_test(a_late_member_is_waited_for_and_shares),
        cmocka_unit_test(late_writes_do_not_reach_a_new_group),
        cmocka_unit_test(memories_beyond_the_limit_are_copied),
        cmocka_unit_test(a_host_with_too_many_members_shares_nothing_and_reports_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
