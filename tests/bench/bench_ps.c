/* Rows that one worker pulls and pushes per second from one parameter server on the loopback
 * through the public interface: 4096 different ids per call, rows of 32 values. Compared with two
 * processes that only send the same bytes over a socket, and with memcpy of the rows. Prints one
 * line of JSON per figure: the best of many short rounds in turns, so that at least one round finds
 * both cores free. Also prints the rows per second of CPU time of worker and server, which other
 * load on the machine does not change.
 */
#include <trainyard/ps.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    DIMENSIONS = 32,
    BATCH = 4096,
    TABLE = 1 << 20, /* rows of the table */
    CALLS = 40,
    ROUNDS = 50,
    WINDOW = 4,
    HEAD = 32,
    IDS_SIZE = BATCH * 8,
    ROWS_SIZE = BATCH * DIMENSIONS * 4,
};

static int64_t ids[TABLE];
static float rows[BATCH * DIMENSIONS], block[16 * BATCH * DIMENSIONS];

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void must(int result, const struct ty_error *error)
{
    if (result == 0)
        return;
    fprintf(stderr, "bench_ps: %s\n", error->message);
    exit(1);
}

static void need(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(1);
}

/* ---- Our parameter server */

static struct ty_tf_config *config_of(int port, const char *role)
{
    char text[256];
    struct ty_error error;
    struct ty_tf_config *config;
    snprintf(text, sizeof(text),
             "{\"cluster\":{\"worker\":[\"127.0.0.1:1\"],\"ps\":[\"127.0.0.1:%d\"]},"
             "\"task\":{\"type\":\"%s\",\"index\":0}}",
             port, role);
    must(ty_tf_config_parse(text, &config, &error), &error);
    return config;
}

static void serve(int port)
{
    struct ty_error error;
    const struct ty_ps_server_options options = {.secret = "bench"};
    must(ty_ps_serve(config_of(port, "ps"), &options, &error), &error);
}

/* The ids of the next call. All ids have been used once before any comes again. */
static const int64_t *draw(void)
{
    static size_t call;
    return ids + call++ * 7919 % (TABLE / BATCH) * BATCH;
}

static void pull(struct ty_ps *ps)
{
    struct ty_error error;
    for (int i = 0; i < CALLS; i++)
        must(ty_ps_rows_pull(ps, 0, draw(), BATCH, rows, &error), &error);
}

static void push(struct ty_ps *ps)
{
    struct ty_error error;
    for (int i = 0; i < CALLS; i++)
        must(ty_ps_rows_push(ps, 0, draw(), BATCH, rows, 0.001f, &error), &error);
    must(ty_ps_flush(ps, &error), &error);
}

static double cpu_s(pid_t process)
{
    clockid_t clock;
    struct timespec time = {0};
    need(clock_getcpuclockid(process, &clock) == 0 && clock_gettime(clock, &time) == 0,
         "bench_ps: processor time");
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double max(double a, double b)
{
    return a > b ? a : b;
}

/* The best rows per second so far: per second of real time, and of CPU time of each side. */
struct rates {
    double all, worker, server;
};

static void measure(struct ty_ps *ps, pid_t server, void (*round)(struct ty_ps *),
                    struct rates *rates)
{
    double start = now_s(), worker = cpu_s(getpid()), serving = cpu_s(server);
    round(ps);
    rates->all = max(rates->all, (double)CALLS * BATCH / (now_s() - start));
    rates->worker = max(rates->worker, (double)CALLS * BATCH / (cpu_s(getpid()) - worker));
    rates->server = max(rates->server, (double)CALLS * BATCH / (cpu_s(server) - serving));
}

/* ---- The peer: only sends bytes */

static char bytes[IDS_SIZE + ROWS_SIZE];

static void move(int fd, size_t size, int out)
{
    for (size_t at = 0; at < size;) {
        ssize_t moved = out ? write(fd, bytes + at, size - at) : read(fd, bytes + at, size - at);
        if (moved <= 0)
            exit(out ? 1 : 0);
        at += (size_t)moved;
    }
}

/* The first byte of a request says whether it is a pull or a push. */
static void echo(int fd)
{
    for (;;) {
        move(fd, 1, 0);
        int pulls = bytes[0] == 'r';
        move(fd, pulls ? IDS_SIZE : IDS_SIZE + ROWS_SIZE, 0);
        move(fd, pulls ? ROWS_SIZE : HEAD, 1);
    }
}

static double echo_pull(int fd)
{
    double start = now_s();
    for (int i = 0; i < CALLS; i++) {
        bytes[0] = 'r';
        move(fd, 1, 1);
        move(fd, IDS_SIZE, 1);
        move(fd, ROWS_SIZE, 0);
    }
    return (double)CALLS * BATCH / (now_s() - start);
}

static double echo_push(int fd)
{
    double start = now_s();
    for (int i = 0; i < CALLS + WINDOW; i++) {
        if (i >= WINDOW)
            move(fd, HEAD, 0);
        if (i < CALLS) {
            bytes[0] = 'w';
            move(fd, 1, 1);
            move(fd, IDS_SIZE + ROWS_SIZE, 1);
        }
    }
    return (double)CALLS * BATCH / (now_s() - start);
}

static double copy(void)
{
    double start = now_s();
    for (int i = 0; i < CALLS * 10; i++) {
        memcpy(rows, block + (size_t)(i % 16) * BATCH * DIMENSIONS, sizeof(rows));
        __asm__ volatile("" ::"r"(rows) : "memory");
    }
    return (double)CALLS * 10 * BATCH / (now_s() - start);
}

/* ---- Both */

static int listener_on(int *ret_port)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(any);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    need(fd >= 0 && bind(fd, (struct sockaddr *)&any, sizeof(any)) == 0 && listen(fd, 1) == 0 &&
             getsockname(fd, (struct sockaddr *)&any, &size) == 0,
         "bench_ps: listen");
    *ret_port = ntohs(any.sin_port);
    return fd;
}

static pid_t start_child(void)
{
    pid_t child = fork();
    need(child >= 0, "bench_ps: fork");
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return child;
}

static int start_echo(void)
{
    int port, listener = listener_on(&port), on = 1;
    if (start_child() == 0) {
        int fd = accept(listener, NULL, NULL);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        echo(fd);
        exit(0);
    }
    close(listener);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    need(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0,
         "bench_ps: connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

static struct ty_ps *start_ps(pid_t *ret_server)
{
    int port;
    close(listener_on(&port));
    *ret_server = start_child();
    if (*ret_server == 0) {
        serve(port);
        exit(0);
    }
    struct ty_error error;
    struct ty_ps *ps;
    const struct ty_ps_options options = {.secret = "bench"};
    const struct ty_ps_table table = {.dimensions = DIMENSIONS,
                                      .range = 0.1f,
                                      .seed = 1,
                                      .update = {.rule = TY_PS_ADAGRAD, .accumulator = 0.1f}};
    int number;
    must(ty_ps_open(config_of(port, "worker"), &options, &ps, &error), &error);
    must(ty_ps_table_open(ps, &table, &number, &error), &error);
    for (size_t i = 0; i < TABLE; i++)
        ids[i] = (int64_t)(i * 0x9e3779b97f4a7c15u);
    for (int i = 0; i < TABLE / BATCH; i++) /* creates every row */
        must(ty_ps_rows_push(ps, 0, ids + i * BATCH, BATCH, rows, 0, &error), &error);
    for (size_t i = TABLE - 1; i > 0; i--) {
        size_t other = (size_t)random() % (i + 1);
        int64_t id = ids[i];
        ids[i] = ids[other];
        ids[other] = id;
    }
    return ps;
}

int main(void)
{
    struct ty_error error;
    pid_t server;
    int peer = start_echo();
    struct ty_ps *ps = start_ps(&server);
    struct rates pulls = {0}, pushes = {0};
    double peer_pulls = 0, peer_pushes = 0, copies = 0;
    memset(block, 1, sizeof(block));
    for (int round = 0; round < ROUNDS; round++) {
        measure(ps, server, pull, &pulls);
        peer_pulls = max(peer_pulls, echo_pull(peer));
        measure(ps, server, push, &pushes);
        peer_pushes = max(peer_pushes, echo_push(peer));
        copies = max(copies, copy());
    }
    const struct {
        const char *what;
        struct rates own;
        double echo;
    } figures[] = {{"push", pushes, peer_pushes}, {"pull", pulls, peer_pulls}};
    for (int i = 0; i < 2; i++) {
        printf("{\"name\":\"ps %s, 1 worker 1 server\",\"value\":%.4g,\"unit\":\"rows/s\","
               "\"peer\":\"the same bytes over a socket\",\"peer_value\":%.4g}\n",
               figures[i].what, figures[i].own.all, figures[i].echo);
        printf("{\"name\":\"ps %s, of memory's speed\",\"value\":%.4g,\"unit\":\"rows/s\","
               "\"peer\":\"memcpy of the rows\",\"peer_value\":%.4g}\n",
               figures[i].what, figures[i].own.all, copies);
        printf("{\"name\":\"ps %s, worker's processor time\",\"value\":%.4g,\"unit\":\"rows/s\"}\n",
               figures[i].what, figures[i].own.worker);
        printf("{\"name\":\"ps %s, server's processor time\",\"value\":%.4g,\"unit\":\"rows/s\"}\n",
               figures[i].what, figures[i].own.server);
    }
    must(ty_ps_finish(ps, &error), &error);
    ty_ps_close(ps);
    int status = 0;
    waitpid(server, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
