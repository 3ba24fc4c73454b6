/* Tests requests about a run over real connections, while another thread trains. */
#include "base/mem.h"
#include "base/str.h"
#include "serve/monitor.h"

#include <arpa/inet.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

static int connect_to(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

/* Returns the whole response, header and body. The caller frees it. */
static char *send_request(int port, const char *method, const char *path)
{
    _cleanup_fd_ int fd = connect_to(port);
    dprintf(fd, "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", method, path);
    struct buf answer;
    buf_init(&answer, 1 << 20);
    char part[4096];
    for (ssize_t size; (size = read(fd, part, sizeof(part))) > 0;)
        buf_append(&answer, part, (size_t)size);
    char *text = buf_take(&answer);
    buf_release(&answer);
    return text;
}

static void assert_answer(int port, const char *method, const char *path, const char *status,
                          const char *part)
{
    _cleanup_free_ char *answer = send_request(port, method, path);
    if (!str_has_prefix(answer, status) || !strstr(answer, part))
        fail_msg("%s %s: no '%s' with '%s' in:\n%s", method, path, status, part, answer);
}

static struct monitor *start_monitor(struct run_state *state, int *ret_port)
{
    struct monitor *monitor = NULL;
    struct err err = ERR_INIT;
    if (monitor_start("127.0.0.1", 0, state, &monitor, ret_port, &err) < 0)
        fail_msg("%s", err.message);
    return monitor;
}

static void every_path_is_answered(void **unused)
{
    _cleanup_(cleanup_run_state) struct run_state *state = run_state_new();
    int port = 0;
    _cleanup_(cleanup_monitor) struct monitor *monitor = start_monitor(state, &port);
    assert_non_null(monitor);
    run_state_begin(state, 0, 100, 0);
    run_state_wait(state, "worker 1 (b:2222)", 1);
    assert_answer(port, "GET", "/progress", "HTTP/1.1 200 ",
                  "{\"step\":0,\"total\":100,\"waiting-for\":\"worker 1 (b:2222)\"}");
    run_state_step(state, 7, 0.5, 64, 2);
    assert_answer(port, "GET", "/progress?pretty=1", "HTTP/1.1 200 ",
                  "{\"step\":7,\"total\":100,\"loss\":0.5}");
    assert_answer(port, "GET", "/metrics", "HTTP/1.1 200 ", "\ntrainer_step 7\n");
    assert_answer(port, "GET", "/healthz", "HTTP/1.1 200 ", "ok");
    assert_answer(port, "POST", "/progress", "HTTP/1.1 405 ", "only GET");
    assert_answer(port, "GET", "/", "HTTP/1.1 404 ",
                  "there is nothing here: use /progress, /metrics or /healthz");
}

/* Many silent connections do not block other clients, however long they stay. */
static void silent_connections_do_not_block_clients(void **unused)
{
    enum { CROWD = 300 };
    _cleanup_(cleanup_run_state) struct run_state *state = run_state_new();
    int port = 0, crowd[CROWD];
    _cleanup_(cleanup_monitor) struct monitor *monitor = start_monitor(state, &port);
    assert_non_null(monitor);
    for (int i = 0; i < CROWD; i++)
        crowd[i] = connect_to(port);
    assert_answer(port, "GET", "/healthz", "HTTP/1.1 200 ", "ok");
    for (int i = 0; i < CROWD; i++)
        close(crowd[i]);
}

static void metrics_have_the_prometheus_format(void **unused)
{
    struct run_state_view view = {.step = 7,
                                  .total = 100,
                                  .loss = 0.5,
                                  .accuracy = (double)NAN,
                                  .rate = 12.5,
                                  .examples = 448,
                                  .losses = 2,
                                  .waited = 1.5,
                                  .late = {{"worker 2", 12.25}, {"chief 0", 0.5}},
                                  .late_count = 2};
    _cleanup_buf_ struct buf text;
    buf_init(&text, 1 << 16);
    monitor_write_metrics(&view, &text);
    static const char *const PARTS[] = {
        "# HELP trainer_loss Loss of the last step.\n# TYPE trainer_loss gauge\ntrainer_loss 0.5\n",
        "# TYPE trainer_worker_losses_total counter\ntrainer_worker_losses_total 2\n",
        "\ntrainer_examples_per_second 12.5\n",
        "\ntrainer_waiting_seconds_total 1.5\n",
        "\ntrainer_waiting 0\n",
        "\ntrainer_waited_seconds_total{for=\"worker 2\"} 12.25\n",
        "\ntrainer_waited_seconds_total{for=\"chief 0\"} 0.5\n",
    };
    for (size_t i = 0; i < ARRAY_SIZE(PARTS); i++)
        if (!strstr(text.data, PARTS[i]))
            fail_msg("'%s' is not in:\n%s", PARTS[i], text.data);
    assert_null(strstr(text.data, "trainer_accuracy")); /* the accuracy is not known */
    assert_null(strstr(text.data, "trainer_epoch"));
}

static void port_in_use_is_reported(void **unused)
{
    _cleanup_(cleanup_run_state) struct run_state *state = run_state_new();
    int port = 0, other = 0;
    _cleanup_(cleanup_monitor) struct monitor *monitor = start_monitor(state, &port),
                                              *second = NULL;
    struct err err = ERR_INIT;
    assert_non_null(monitor);
    assert_true(monitor_start("127.0.0.1", port, state, &second, &other, &err) < 0);
    assert_null(second);
    _cleanup_free_ char *expected =
        mem_printf("cannot listen on 127.0.0.1 port %d: Address already in use", port);
    assert_string_equal(err.message, expected);
}

/* Clients that stay, or disconnect in the middle, neither delay others nor end the server. */
static void misbehaving_clients_do_not_stop_the_server(void **unused)
{
    _cleanup_(cleanup_run_state) struct run_state *state = run_state_new();
    int port = 0;
    struct monitor *monitor = start_monitor(state, &port);
    int silent = connect_to(port), half = connect_to(port);
    dprintf(half, "GET /prog");
    for (int i = 0; i < 50; i++) {
        int fd = connect_to(port);
        dprintf(fd,
                "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\nGET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        struct linger reset = {.l_onoff = 1};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        close(fd);
    }
    assert_answer(port, "GET", "/healthz", "HTTP/1.1 200 ", "ok");
    assert_null(monitor_stop(monitor));
    close(silent), close(half);
}

static atomic_bool done;

static void *step_until_done(void *argument)
{
    for (uint64_t step = 1; !done; step++)
        run_state_step(argument, step, 0.5, 1, (int64_t)step);
    return NULL;
}

static void requests_are_answered_during_training(void **unused)
{
    _cleanup_(cleanup_run_state) struct run_state *state = run_state_new();
    int port = 0;
    _cleanup_(cleanup_monitor) struct monitor *monitor = start_monitor(state, &port);
    assert_non_null(monitor);
    pthread_t thread;
    done = false;
    assert_int_equal(pthread_create(&thread, NULL, step_until_done, state), 0);
    for (int i = 0; i < 20; i++) {
        assert_answer(port, "GET", "/progress", "HTTP/1.1 200 ", "\"total\":0");
        assert_answer(port, "GET", "/metrics", "HTTP/1.1 200 ", "trainer_step");
    }
    done = true;
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_path_is_answered),
        cmocka_unit_test(silent_connections_do_not_block_clients),
        cmocka_unit_test(metrics_have_the_prometheus_format),
        cmocka_unit_test(port_in_use_is_reported),
        cmocka_unit_test(misbehaving_clients_do_not_stop_the_server),
        cmocka_unit_test(requests_are_answered_during_training),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
