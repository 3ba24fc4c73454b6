/* Runs probes and hooks over the network: a TCP connection, an HTTP GET, or gRPC's health check.
 * This code runs in a child of the supervisor, in the pod's network, and may block until its
 * deadline. Where the kubelet has a message, it is used. */
#include "node/step/probe/check.h"

#include "node/step/probe/http.h"
#include "node/step/probe/lookup.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "base/system/file.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REDIRECTS_MAX = 10, TLS_FD = 3 };

static void check_set_verdict(struct step_verdict *verdict, enum step_outcome outcome,
                              const char *format, ...) __attribute__((format(printf, 3, 4)));
static void check_set_verdict(struct step_verdict *verdict, enum step_outcome outcome,
                              const char *format, ...)
{
    va_list args;
    va_start(args, format);
    verdict->outcome = outcome;
    vsnprintf(verdict->message, sizeof(verdict->message), format, args);
    va_end(args);
}

/* ---- Connections ---- */

bool step_wait(int fd, short events, int64_t deadline_ms)
{
    struct pollfd ready = {.fd = fd, .events = events};
    for (;;) {
        int64_t left = deadline_ms == INT64_MAX ? -1 : deadline_ms - moment_monotonic_ms();
        if (deadline_ms != INT64_MAX && left <= 0)
            return false;
        if (poll(&ready, 1, left > INT32_MAX ? INT32_MAX : (int)left) > 0)
            return true;
    }
}

/* Returns the message of the errno value `number` in Go's form, such as "connection refused". */
static const char *words_of(int number, char *text, size_t size)
{
    str_copy(text, size, strerror(number));
    text[0] = (char)tolower((unsigned char)text[0]);
    return text;
}

static bool check_parse_address(const char *host, int port, struct sockaddr_storage *ret,
                                socklen_t *size)
{
    struct sockaddr_in *four = (struct sockaddr_in *)ret;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)ret;
    *ret = (struct sockaddr_storage){0};
    if (str_eq(host, "localhost"))
        host = "127.0.0.1";
    if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        *size = sizeof(*four);
        return true;
    }
    if (inet_pton(AF_INET6, host, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)port);
        *size = sizeof(*six);
        return true;
    }
    return false;
}

static bool find_address(const char *resolv_conf, const char *host, int port, int64_t deadline_ms,
                         struct sockaddr_storage *ret, socklen_t *size)
{
    struct sockaddr_in *four = (struct sockaddr_in *)ret;
    if (check_parse_address(host, port, ret, size))
        return true;
    *four = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    *size = sizeof(*four);
    return step_lookup(resolv_conf, host, deadline_ms, &four->sin_addr);
}

int step_dial(const char *resolv_conf, const char *host, int port, int64_t deadline_ms,
              char *message, size_t size)
{
    struct sockaddr_storage address;
    socklen_t address_size;
    char words[128];
    if (!find_address(resolv_conf, host, port, deadline_ms, &address, &address_size)) {
        snprintf(message, size, "dial tcp: lookup %s: no such host", host);
        return -1;
    }
    _cleanup_fd_ int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int number = fd < 0 ? errno : 0;
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, address_size) < 0)
        number = errno;
    if (number == EINPROGRESS) {
        socklen_t number_size = sizeof(number);
        if (!step_wait(fd, POLLOUT, deadline_ms)) {
            snprintf(message, size, "dial tcp %s:%d: i/o timeout", host, port);
            return -1;
        }
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &number_size);
    }
    if (number) {
        snprintf(message, size, "dial tcp %s:%d: connect: %s", host, port,
                 words_of(number, words, sizeof(words)));
        return -1;
    }
    return TAKE_FD(fd);
}

/* ---- HTTP ---- */

static const char TIMED_OUT[] =
    "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";

/* Gives `fd` the number `as` in the program that is executed next. If both are the same number,
 * dup2() would leave close-on-exec set. */
static bool hand_over(int fd, int as)
{
    return fd == as ? fcntl(fd, F_SETFD, 0) == 0 : dup2(fd, as) == as;
}

/* Starts the program pod->prober, because this static program has no TLS. The prober makes a TLS
 * session over the connection: it sends what is written to *ret_in, and writes what it receives to
 * *ret_out. The kernel kills it when this process ends. */
static int start_tls(const struct step_check_options *options, const char *host, int connection,
                     int *ret_in, int *ret_out)
{
    int in[2], out[2];
    if (!options->run->pod->prober || pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        fcntl(connection, F_SETFL, 0);
        if (hand_over(in[0], STDIN_FILENO) && hand_over(out[1], STDOUT_FILENO) &&
            hand_over(connection, TLS_FD))
            execl(options->run->pod->prober, options->run->pod->prober, "probe-tls", host,
                  (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    *ret_in = in[1];
    *ret_out = out[0];
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    return pid < 0 ? -1 : 0;
}

/* Sends the request and reads the head of the answer. For a status 3xx it also reads the body,
 * until it ends or is long enough. */
static int check_exchange(int in, int out, const struct buf *request, int64_t deadline_ms,
                          struct buf *text, struct step_answer *ret, struct err *err)
{
    char words[128];
    if (file_write_all(in, request->data, request->size, err) < 0)
        return err_wrap(err, "write");
    for (bool has_head = false;;) {
        char piece[4096];
        if (!step_wait(out, POLLIN, deadline_ms))
            return has_head ? 0 : err_set(err, ERR_TIMEOUT, "%s", TIMED_OUT);
        ssize_t got = read(out, piece, sizeof(piece));
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (got < 0 && !has_head)
            return err_set(err, ERR_IO, "read: %s", words_of(errno, words, sizeof(words)));
        if (got <= 0)
            return has_head ? 0 : err_set(err, ERR_IO, "EOF");
        if (text->size + (size_t)got > STEP_ANSWER_MAX)
            return has_head
                       ? 0
                       : err_set(err, ERR_TOO_LARGE, "the header of the response is too large");
        buf_append(text, piece, (size_t)got);
        int parsed = step_http_parse(text->data, text->size, ret, err);
        if (parsed < 0)
            return parsed;
        /* The body is used only in the message about a redirect that is not followed. */
        if (parsed > 0 && (ret->status < 300 || ret->status >= 400))
            return 0;
        has_head = parsed > 0;
    }
}

static int check_send_request(const struct step_check_options *options, const struct step_url *url,
                              int64_t deadline_ms, struct buf *text, struct step_answer *ret,
                              struct err *err)
{
    char message[POD_MESSAGE_MAX];
    _cleanup_fd_ int connection = step_dial(options->run->pod->resolv_conf, url->host, url->port,
                                            deadline_ms, message, sizeof(message));
    if (connection < 0)
        return err_set(err, ERR_UNAVAILABLE, "%s", message);
    _cleanup_buf_ struct buf request;
    buf_init(&request, STEP_ANSWER_MAX);
    step_http_request(url, &options->handler->headers, options->agent, &request);
    if (request.overflowed)
        return err_set(err, ERR_TOO_LARGE, "the request is too large");
    if (!url->tls) {
        /* The request fits into the socket's buffer. */
        return check_exchange(connection, connection, &request, deadline_ms, text, ret, err);
    }
    _cleanup_fd_ int in = -1, out = -1;
    if (start_tls(options, url->host, connection, &in, &out) < 0)
        return err_set(err, ERR_UNSUPPORTED, "cannot start a TLS client for the check");
    int result = check_exchange(in, out, &request, deadline_ms, text, ret, err);
    /* If the TLS program fails, it prints "tls: " and the reason. No HTTP answer begins like that.
     */
    return result < 0 && str_has_prefix(text->data, "tls: ")
               ? err_set(err, ERR_IO, "%s", text->data)
               : result;
}

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static void check_judge_answer(const struct step_answer *answer, const struct buf *text,
                               struct step_verdict *ret)
{
    ret->answered = true;
    if (answer->status >= 400 || answer->status < 200)
        check_set_verdict(ret, CHECK_FAILED, "HTTP probe failed with statuscode: %d",
                          answer->status);
    else if (answer->status >= 300)
        check_set_verdict(ret, CHECK_WARNING, "Probe terminated redirects, Response body: %.*s",
                          (int)(text->size - answer->body), text->data + answer->body);
    else
        check_set_verdict(ret, CHECK_PASSED, "%s", "");
}

/* Sends the request and follows redirects that stay on the same host. */
static void check_http_get(const struct step_check_options *options, int64_t deadline_ms,
                           struct step_verdict *ret)
{
    struct err err = ERR_INIT;
    struct step_url first, next;
    struct step_answer answer;
    _cleanup_buf_ struct buf text, shown;
    buf_init(&text, STEP_ANSWER_MAX);
    buf_init(&shown, STEP_ANSWER_MAX);
    int result = step_url_of(options->handler, &first, &err);
    struct step_url url = first;
    for (int i = 0; result == 0; i++) {
        buf_clear(&text);
        buf_clear(&shown);
        step_url_write(&url, &shown);
        result = check_send_request(options, &url, deadline_ms, &text, &answer, &err);
        if (result < 0)
            break;
        bool is_followable = is_redirect(answer.status) && answer.location[0];
        if (!is_followable || step_url_follow(&url, answer.location, &next, NULL) < 0 ||
            !str_eq(next.host, first.host)) {
            check_judge_answer(&answer, &text, ret);
            return;
        }
        if (i + 1 == REDIRECTS_MAX)
            result = err_set(&err, ERR_TOO_MANY, "stopped after %d redirects", REDIRECTS_MAX);
        url = next;
    }
    check_set_verdict(ret, CHECK_FAILED, "Get \"%s\": %s", shown.data, err.message);
}

/* ---- All kinds ---- */

static void connect_only(const struct step_check_options *options, int64_t deadline_ms,
                         struct step_verdict *ret)
{
    int fd =
        step_dial(options->run->pod->resolv_conf, options->handler->host,
                  (int)options->handler->port, deadline_ms, ret->message, sizeof(ret->message));
    ret->outcome = fd < 0 ? CHECK_FAILED : CHECK_PASSED;
    if (fd >= 0)
        close(fd);
}

void step_check_net(const struct step_check_options *options, int64_t deadline_ms,
                    struct step_verdict *ret)
{
    switch (options->handler->kind) {
    case HANDLER_HTTP:
        check_http_get(options, deadline_ms, ret);
        break;
    case HANDLER_GRPC:
        step_check_grpc(options->handler, deadline_ms, options->timeout_ms, ret);
        break;
    case HANDLER_TCP:
        connect_only(options, deadline_ms, ret);
        break;
    case HANDLER_NONE:
    case HANDLER_EXEC:
    case HANDLER_SLEEP:
    default:
        check_set_verdict(ret, CHECK_FAILED, "the check has no action");
    }
}
