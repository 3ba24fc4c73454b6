/* Tests peers that stall or become silent, on real sockets. The loop does not spin while it waits
 * for them, and a peer whose machine is cut off is noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "loop/loop.h"
#include "net/http/server.h"
#include "tls/tls.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

struct world {
    struct loop *loop;
    struct http_server *server;
    int port;
    int begun, cancelled;
    uv_prepare_t turn; /* runs once per turn of the loop */
    size_t turns;
    struct loop_timer timer, guard;
    int peers[3];
    int ended; /* number of peers whose connection has ended */
};

static void on_cancel(struct http_exchange *exchange)
{
    struct world *world = exchange->context;
    world->cancelled++;
    loop_stop(world->loop);
}

static void handler(struct http_exchange *exchange, void *context)
{
    struct world *world = context;
    exchange->context = world;
    exchange->on_cancel = on_cancel;
    http_begin(exchange, 200, "text/plain", NULL, -1);
    http_write(exchange, "begin", 5);
    world->begun++;
    loop_stop(world->loop);
}

static void on_closed(void *context)
{
    loop_stop(((struct world *)context)->loop);
}

static void open_world(struct world *world, struct http_server_options *options)
{
    struct err err = ERR_INIT;
    assert_int_equal(loop_new(&world->loop, &err), 0);
    assert_int_equal(http_listen("127.0.0.1", 0, &options->listen_fd, &world->port, &err), 0);
    assert_int_equal(http_server_new(world->loop, options, handler, world, &world->server, &err),
                     0);
}

static void close_world(struct world *world)
{
    http_server_close(world->server, on_closed, world);
    loop_run(world->loop);
    loop_free(world->loop);
}

static int connect_to(int port, const char *text)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
    return fd;
}

/* ---- stalls ---------------------------------------------------------------------------------- */

static void on_turn(uv_prepare_t *prepare)
{
    CONTAINER_OF(prepare, struct world, turn)->turns++;
}

static void on_guard(struct loop_timer *timer)
{
    fail_msg("nothing happened any more");
}

/* Checks whether the server has closed the stalled connections. Each check is a turn, too. */
static void on_look(struct loop_timer *timer)
{
    struct world *world = CONTAINER_OF(timer, struct world, timer);
    for (int i = 0; i < 3; i++) {
        char data[1000];
        ssize_t size =
            world->peers[i] < 0 ? -1 : recv(world->peers[i], data, sizeof(data), MSG_DONTWAIT);
        if (size != 0)
            continue;
        close(world->peers[i]);
        world->peers[i] = -1;
        world->ended++;
    }
    if (world->ended == 3)
        loop_stop(world->loop);
    else
        loop_timer_start(timer, 50);
}

static void on_turn_closed(uv_handle_t *handle)
{
}

/* Each peer stalls at another place. While nothing arrives, only timers may turn the loop. A wait
 * that spins would turn it many thousand times. */
static void stalled(bool with_tls, const char *const texts[3])
{
    struct world world = {0};
    struct http_server_options options = {
        .handshake_timeout_ms = 600, .header_timeout_ms = 600, .body_timeout_ms = 600};
    struct tls_pair ca = {0}, pair = {0};
    struct tls_server *tls = NULL;
    if (with_tls) {
        static const char *const hosts[] = {"127.0.0.1", NULL};
        tls_make_ca("ca", 1, &ca, NULL);
        tls_make_cert(&ca, "server", hosts, 1, &pair, NULL);
        assert_int_equal(tls_server_new(pair.cert_pem, pair.key_pem, &tls, NULL), 0);
    }
    options.tls = tls;
    open_world(&world, &options);
    for (int i = 0; i < 3; i++)
        world.peers[i] = connect_to(world.port, texts[i]);
    uv_prepare_init(loop_uv(world.loop), &world.turn);
    uv_prepare_start(&world.turn, on_turn);
    loop_timer_init(world.loop, &world.timer, on_look);
    loop_timer_start(&world.timer, 0);
    loop_timer_init(world.loop, &world.guard, on_guard);
    loop_timer_start(&world.guard, 60 * 1000);
    loop_run(world.loop);
    loop_timer_stop(&world.guard);
    assert_int_equal(world.ended, 3);
    assert_int_equal(world.begun, 0);
    assert_in_range(world.turns, 1, 500);
    uv_close((uv_handle_t *)&world.turn, on_turn_closed);
    close_world(&world);
    tls_server_free(tls);
    tls_pair_release(&ca);
    tls_pair_release(&pair);
}

static void a_stalled_peer_does_not_make_the_loop_spin(void **state)
{
    static const char *const HTTP[] = {
        "", "GET / HTTP/1.1\r\nHost: x\r\nX: ",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc"};
    /* The beginning of a TLS record, and a whole record with the beginning of a ClientHello. */
    static const char *const TLS[] = {"", "\x16\x03\x01\x02", "\x16\x03\x01\x01\x02\x01\x01"};
    stalled(false, HTTP);
    stalled(true, TLS);
}

/* ---- silence --------------------------------------------------------------------------------- */

static void set_loopback(bool up)
{
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = up ? IFF_UP : 0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
        exit(3);
    close(fd);
}

/* Runs in a separate network namespace, whose interface then goes down. Neither end can tell the
 * other. */
static int disconnect_network(void)
{
    struct world world = {0};
    struct http_server_options options = {.silence_timeout_ms = 4000};
    set_loopback(true);
    open_world(&world, &options);
    int fd = connect_to(world.port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    while (!world.begun)
        loop_run(world.loop);
    char data[1000]; /* all written bytes have arrived, so the connection is silent from now on */
    while (recv(fd, data, sizeof(data), 0) < 0)
        continue;
    set_loopback(false);
    loop_run(world.loop);
    return world.cancelled == 1 ? 0 : 1;
}

static void an_unreachable_peer_is_detected(void **state)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(60); /* the limit if the loss is never noticed */
        if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
            _exit(2);
        _exit(disconnect_network());
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) >= 2)
        skip(); /* namespaces are not allowed on this machine */
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stalled_peer_does_not_make_the_loop_spin),
        cmocka_unit_test(an_unreachable_peer_is_detected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
