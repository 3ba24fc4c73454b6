/* Tests groups with encrypted connections. They give the same results as without encryption, and an
 * observer can read nothing. A member whose data is modified, that does not encrypt, or that has no
 * secret gets an error. Most tests of groups also run with encrypted connections; see members.h. */
#include "base/mem.h"
#include "base/rand.h"
#include "comm/transport/socket.h"
#include "members.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { MANY = 300007, LITTLE = 100, WORD_SIZE = 64, BLOCK = 1 << 20 };

static struct comm_group *join(const struct members *members, int rank, bool encrypt,
                               enum comm_wire wire)
{
    struct ty_tf_config *config = members_config(members, true, rank);
    struct comm_options options = members_options(config);
    options.encrypt = encrypt;
    options.transport = COMM_TRANSPORT_TCP;
    options.wire = wire;
    options.channels = 2;
    struct comm_group *group = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(comm_group_open(&options, &group, &err), &err);
    ty_tf_config_free(config);
    return group;
}

/* Sums of these values round, so that the order shows in the bits. */
static void fill(float *data, int rank)
{
    struct rand rand;
    for (size_t i = 0; i < MANY; i++) {
        rand_init_keyed(&rand, (uint64_t)rank, i, 3);
        data[i] = (float)(rand_unit(&rand) * 2 - 1) * (float)(1 << (i % 20));
    }
}

/* Runs all collectives of a group, one after the other. Returns their results in one buffer, which
 * the caller frees. */
static char *results_of(const struct members *members, int rank, bool encrypt, size_t *ret_size)
{
    struct err err = ERR_INIT;
    size_t floats = MANY * sizeof(float), size = (size_t)members->size;
    *ret_size = 2 * floats + LITTLE * sizeof(float) + floats + size * LITTLE;
    char *all = mem_zalloc(*ret_size), *at = all;
    for (int wire = COMM_WIRE_F32; wire <= COMM_WIRE_BF16; wire++) {
        struct comm_group *group = join(members, rank, encrypt, (enum comm_wire)wire);
        float *data = (float *)(void *)at;
        fill(data, rank);
        CHECK_OK(comm_allreduce_sum_f32(group, data, MANY, &err), &err);
        at += floats;
        if (wire == COMM_WIRE_BF16) {
            memcpy(at, data, LITTLE * sizeof(float));
            CHECK_OK(comm_allreduce_sum_f32(group, (float *)(void *)at, LITTLE, &err), &err);
            at += LITTLE * sizeof(float);
            fill((float *)(void *)at, rank);
            CHECK_OK(comm_broadcast(group, 0, at, floats, &err), &err);
            at += floats;
            char own[LITTLE];
            memset(own, 'a' + rank, sizeof(own));
            CHECK_OK(comm_allgather(group, own, sizeof(own), at, &err), &err);
            CHECK_OK(comm_barrier(group, &err), &err);
        }
        comm_group_free(group);
    }
    return all;
}

static void run_plain_and_encrypted(const struct members *members, int rank)
{
    size_t size = 0;
    char *plain = results_of(members, rank, false, &size);
    char *encrypted = results_of(members, rank, true, &size);
    CHECK(memcmp(plain, encrypted, size) == 0);
    free(plain);
    free(encrypted);
}

static void results_are_the_same_bits(void **state)
{
    struct members members;
    members_init(&members, 3);
    members_start_all(&members, run_plain_and_encrypted);
    assert_int_equal(members_wait(&members), 0);
}

static void a_secret_is_needed(void **state)
{
    struct members members;
    members_init(&members, 2);
    struct ty_tf_config *config = members_config(&members, true, 0);
    struct comm_options options = members_options(config);
    struct comm_group *group = NULL;
    struct err err = ERR_INIT;
    options.encrypt = true;
    options.secret = "";
    assert_int_equal(comm_group_open(&options, &group, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "without a job secret: give all tasks the same "));
    ty_tf_config_free(config);
}

static bool elastic;

/* Only rank 1 encrypts. Both members get the reason at once. */
static void encrypt_on_rank_1(const struct members *members, int rank)
{
    struct ty_tf_config *config = members_config(members, true, rank);
    struct comm_options options = members_options(config);
    struct comm_group *group = NULL;
    struct err err = ERR_INIT;
    options.encrypt = rank == 1;
    options.join_timeout_ms = 60000;
    options.min_members = elastic ? 1 : 0;
    CHECK(comm_group_open(&options, &group, &err) == -ERR_FORBIDDEN);
    CHECK_TEXT(err.message,
               "only one of the two tasks encrypts its connections: give all tasks --encrypt");
    ty_tf_config_free(config);
}

static void encryption_on_one_side_is_rejected(void **state)
{
    for (int i = 0; i < 2; i++) {
        struct members members;
        elastic = i;
        members_init(&members, 2);
        members_start_all(&members, encrypt_on_rank_1);
        assert_int_equal(members_wait(&members), 0);
    }
}

/* ---- An observer in the middle --------------------------------------------------------------- */

enum { PAIRS_MAX = 16, CAPTURE_MAX = 32 << 20, SPOIL_AFTER = BLOCK / 2 };

/* In memory that the test, the members and the observer share. */
struct middle {
    bool encrypt, spoil;
    bool spoiled;
    size_t size;
    char capture[CAPTURE_MAX];
};
static struct middle *middle;
static char word[WORD_SIZE]; /* what the members send each other repeatedly */

static int dial(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Forwards what arrived on one connection to the other one, records it, and modifies it if the
 * test says so. */
static bool forward_bytes(int from, int to, size_t *passed)
{
    char bytes[65536];
    ssize_t got = recv(from, bytes, sizeof(bytes), 0);
    if (got <= 0)
        return false;
    size_t size = (size_t)got;
    *passed += size;
    if (middle->spoil && !middle->spoiled && *passed > SPOIL_AFTER) {
        middle->spoiled = true;
        bytes[size / 2] ^= 4;
    }
    if (size <= CAPTURE_MAX - middle->size) {
        memcpy(middle->capture + middle->size, bytes, size);
        middle->size += size;
    }
    for (size_t sent = 0; sent < size;) {
        ssize_t more = send(to, bytes + sent, size - sent, MSG_NOSIGNAL);
        if (more <= 0)
            return false;
        sent += (size_t)more;
    }
    return true;
}

/* Forwards between rank 1 and rank 0, at port 1, until it is killed. */
static void run_observer(const struct members *members, int listener)
{
    struct pollfd polls[1 + 2 * PAIRS_MAX] = {{.fd = listener, .events = POLLIN}};
    size_t passed[1 + 2 * PAIRS_MAX] = {0};
    nfds_t count = 1;
    for (;;) {
        CHECK(poll(polls, count, -1) >= 0);
        for (nfds_t i = 1; i < count; i++) {
            nfds_t other = (i - 1) / 2 * 2 + 1 + i % 2;
            if (!polls[i].revents || polls[i].fd < 0 ||
                forward_bytes(polls[i].fd, polls[other].fd, &passed[i]))
                continue;
            close(polls[i].fd);
            close(polls[other].fd);
            polls[i].fd = polls[other].fd = -1;
        }
        if (polls[0].revents && count + 2 <= 1 + 2 * PAIRS_MAX) {
            int in = accept(listener, NULL, NULL), out = dial(members->ports[0]);
            if (out < 0) { /* rank 0 does not listen yet: rank 1 tries again */
                close(in);
                continue;
            }
            polls[count++] = (struct pollfd){.fd = in, .events = POLLIN};
            polls[count++] = (struct pollfd){.fd = out, .events = POLLIN};
        }
    }
}

/* Two members of the master form, of which rank 1 has the address of the observer, so that
 * everything passes through it. */
static void communicate_through_observer(const struct members *members, int rank)
{
    char port[16], rank_text[16];
    snprintf(port, sizeof(port), "%d", members->ports[rank]);
    snprintf(rank_text, sizeof(rank_text), "%d", rank);
    CHECK(unsetenv("TF_CONFIG") == 0);
    CHECK(setenv("MASTER_ADDR", "127.0.0.1", 1) == 0);
    CHECK(setenv("MASTER_PORT", port, 1) == 0);
    CHECK(setenv("WORLD_SIZE", "2", 1) == 0);
    CHECK(setenv("RANK", rank_text, 1) == 0);
    struct ty_error error;
    struct ty_tf_config *config;
    CHECK_OK(ty_tf_config_from_environment(&config, &error), &error);
    struct comm_options options = members_options(config);
    options.encrypt = middle->encrypt;
    options.transport = COMM_TRANSPORT_TCP;
    struct comm_group *group = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(comm_group_open(&options, &group, &err), &err);
    char *own = mem_alloc(BLOCK), *all = mem_alloc(2 * BLOCK);
    for (size_t i = 0; i < BLOCK; i += WORD_SIZE)
        memcpy(own + i, word, WORD_SIZE);
    int result = comm_allgather(group, own, BLOCK, all, &err);
    if (result == 0) /* one of them may have received all it needed */
        result = comm_barrier(group, &err);
    CHECK((result < 0) == middle->spoil);
    if (middle->spoil) {
        CHECK_TEXT(err.message, "data on the encrypted connection was modified on its way");
        CHECK(comm_group_broken(group) == COMM_BROKEN_PEER);
    } else {
        CHECK(memcmp(all, own, BLOCK) == 0 && memcmp(all + BLOCK, own, BLOCK) == 0);
    }
    comm_group_free(group);
    free(own);
    free(all);
    ty_tf_config_free(config);
}

static void run_with_observer(bool encrypt, bool spoil)
{
    struct members members;
    struct err err = ERR_INIT;
    int listener;
    members_init(&members, 2);
    memset(middle, 0, offsetof(struct middle, capture));
    middle->encrypt = encrypt;
    middle->spoil = spoil;
    assert_int_equal(socket_listen(members.ports[1], false, 16, &listener, &err), 0);
    pid_t one = fork();
    if (one == 0)
        run_observer(&members, listener);
    close(listener);
    members_start_all(&members, communicate_through_observer);
    assert_int_equal(members_wait(&members), 0);
    kill(one, SIGKILL);
    waitpid(one, NULL, 0);
    assert_true(middle->size > BLOCK / 2);
}

static void an_observer_cannot_read_the_data(void **state)
{
    run_with_observer(false, false);
    assert_non_null(memmem(middle->capture, middle->size, word, sizeof(word)));
    run_with_observer(true, false);
    assert_null(memmem(middle->capture, middle->size, word, sizeof(word)));
    assert_null(memmem(middle->capture, middle->size, word, 8));
}

static void a_modified_bit_ends_the_call(void **state)
{
    run_with_observer(true, true);
    assert_true(middle->spoiled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_the_same_bits),
        cmocka_unit_test(a_secret_is_needed),
        cmocka_unit_test(encryption_on_one_side_is_rejected),
        cmocka_unit_test(an_observer_cannot_read_the_data),
        cmocka_unit_test(a_modified_bit_ends_the_call),
    };
    middle = mmap(NULL, sizeof(*middle), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    rand_secure(word, sizeof(word));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
