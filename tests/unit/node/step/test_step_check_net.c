/* Tests a probe by HTTPS, with a script instead of the program that speaks TLS. */
#include "node_test.h"
#include "scratch_directory.h"

#include "base/moment.h"
#include "node/step/probe/check.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEADLINE_MS = 60 * 1000 };

/* Reads the request, and answers instead of the server if it has the connection. */
static const char PROBER[] =
    "#!/bin/sh\nread -r request\n[ -e /proc/self/fd/3 ] && printf 'HTTP/1.0 200 OK\\r\\n\\r\\n'\n";

static int listen_on_loopback(int64_t *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *ret_port = ntohs(address.sin_port);
    return fd;
}

/* The program finds the connection at a fixed descriptor number. */
static void https_probe_passes_its_connection(void **state)
{
    _cleanup_free_ char *prober = mem_printf("%s/prober", directory);
    struct err err = ERR_INIT;
    if (file_write_atomic(prober, PROBER, strlen(PROBER), 0700, &err) < 0)
        fail_msg("%s", err.message);
    struct pod_handler handler = {
        .kind = HANDLER_HTTP, .host = "127.0.0.1", .path = "/", .tls = true};
    const struct pod_spec spec = {.prober = prober};
    const struct container_run run = {.pod = &spec};
    const struct step_check_options options = {.run = &run, .handler = &handler, .agent = "test"};
    int server = listen_on_loopback(&handler.port);
    for (int taken = 0; taken < 3; taken++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct step_verdict verdict = {.outcome = CHECK_FAILED};
            close_range(STDERR_FILENO + 1, ~0U, 0); /* the server listens in the parent process */
            for (int i = 0; i < taken; i++)
                (void)open("/dev/null", O_RDONLY | O_CLOEXEC);
            step_check_net(&options, moment_monotonic_ms() + DEADLINE_MS, &verdict);
            if (verdict.outcome != CHECK_PASSED)
                fprintf(stderr, "with %d taken: %s\n", taken, verdict.message);
            _exit(verdict.outcome == CHECK_PASSED ? 0 : 1);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    close(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(https_probe_passes_its_connection)};
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
