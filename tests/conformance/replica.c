/* conformance-replica: the program of each replica of the conformance suite's jobs. It listens at
 * the address that TF_CONFIG announces for it, reports its environment, and exits on request:
 *
 *   GET /tfconfig             the variable TF_CONFIG as it is; 404 if it is unset
 *   GET /runconfig            how a TensorFlow program reads TF_CONFIG
 *   GET /env?name=A&name=B    those variables as JSON, null if unset
 *   GET /resolve?name=HOST    the addresses of a name
 *   GET /exit?exitCode=N      answers, then exits with N
 *
 *   conformance-replica [--port N] [--exit N] [--on-term N|ignore]
 *
 * With --exit it exits at once instead. SIGTERM ends it at once with 143, unless --on-term says
 * otherwise. It serves one request after the other. It must run in an image that holds no other
 * file. */
#include "replica_config.h"
#include "replica_lookup.h"

#include "base/mem.h"
#include "base/str.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    PORT_DEFAULT = 2222,
    REQUEST_MAX = 8192,
    TERM_CODE = 143,
    NOT_ASKED = -1,
    PATIENCE_S = 60, /* timeout of a connected client: a port-forward on a busy machine may stall */
};

struct options {
    int64_t port, exit_code, on_term;
    bool ignore_term;
};

struct answer {
    const char *status; /* "200 OK" */
    const char *body;
    int64_t exit_code; /* exit with it after the answer; NOT_ASKED: continue */
};

static volatile sig_atomic_t term_code = TERM_CODE;

static void on_term(int signal)
{
    _exit(term_code);
}

static void usage(void)
{
    fprintf(stderr, "usage: conformance-replica [--port N] [--exit N] [--on-term N|ignore]\n");
    exit(2);
}

static struct options read_options(int count, char **arguments)
{
    struct options options = {.exit_code = NOT_ASKED, .on_term = TERM_CODE};

    options.port = replica_config_port(getenv("TF_CONFIG"), PORT_DEFAULT);
    for (int i = 1; i < count; i += 2) {
        const char *value = i + 1 < count ? arguments[i + 1] : "";
        int r = -1;

        if (str_eq(arguments[i], "--port"))
            r = str_to_int64(value, 1, 65535, &options.port, NULL);
        else if (str_eq(arguments[i], "--exit"))
            r = str_to_int64(value, 0, 255, &options.exit_code, NULL);
        else if (str_eq(arguments[i], "--on-term") && str_eq(value, "ignore"))
            r = (options.ignore_term = true, 0);
        else if (str_eq(arguments[i], "--on-term"))
            r = str_to_int64(value, 0, 255, &options.on_term, NULL);
        if (r < 0)
            usage();
    }
    return options;
}

/* The next value of `name` in "name=a&name=b", or NULL. Values are not unescaped: names and exit
 * codes need no escapes. */
static const char *next_value(struct arena *arena, const char *name, const char **query)
{
    while (*query && **query) {
        const char *pair = *query;
        size_t length = strcspn(pair, "&");

        *query = pair + length + (pair[length] == '&');
        if (strncmp(pair, name, strlen(name)) == 0 && pair[strlen(name)] == '=')
            return arena_strndup(arena, pair + strlen(name) + 1, length - strlen(name) - 1);
    }
    return NULL;
}

static struct answer answer_env(struct arena *arena, const char *query)
{
    struct json *out = json_object(arena);
    const char *name;

    while ((name = next_value(arena, "name", &query)))
        json_set_string(arena, out, name, getenv(name));
    return (struct answer){"200 OK", json_to_string(arena, out), NOT_ASKED};
}

static struct answer answer_resolve(struct arena *arena, const char *query)
{
    const char *name = next_value(arena, "name", &query);
    struct json *found = name ? replica_lookup(arena, name) : NULL;

    if (!name)
        return (struct answer){"400 Bad Request", "the parameter 'name' is missing", NOT_ASKED};
    if (!found)
        return (struct answer){"504 Gateway Timeout", "no name server answers", NOT_ASKED};
    return (struct answer){"200 OK", json_to_string(arena, found), NOT_ASKED};
}

static struct answer answer_exit(struct arena *arena, const char *query)
{
    const char *code = next_value(arena, "exitCode", &query);
    struct answer answer = {"200 OK", "shutting down", 0};

    if (code && str_to_int64(code, 0, 255, &answer.exit_code, NULL) < 0)
        return (struct answer){"400 Bad Request", "exitCode: a number from 0 to 255", NOT_ASKED};
    return answer;
}

static struct answer answer_path(struct arena *arena, const char *path, const char *query)
{
    const char *tf_config = getenv("TF_CONFIG");

    if (str_eq(path, "/tfconfig") && tf_config)
        return (struct answer){"200 OK", tf_config, NOT_ASKED};
    if (str_eq(path, "/runconfig"))
        return (struct answer){
            "200 OK", json_to_string(arena, replica_config_describe(arena, tf_config)), NOT_ASKED};
    if (str_eq(path, "/env"))
        return answer_env(arena, query);
    if (str_eq(path, "/resolve"))
        return answer_resolve(arena, query);
    if (str_eq(path, "/exit"))
        return answer_exit(arena, query);
    return (struct answer){"404 Not Found", "no such path", NOT_ASKED};
}

static struct answer answer_request(struct arena *arena, char *request)
{
    char *path = request + 4, *query;

    if (!str_has_prefix(request, "GET /"))
        return (struct answer){"405 Method Not Allowed", "GET only", NOT_ASKED};
    path[strcspn(path, " \r\n")] = '\0';
    query = strchr(path, '?');
    if (query)
        *query++ = '\0';
    return answer_path(arena, path, query ? query : "");
}

/* Reads up to the empty line after the headers. */
static bool read_request(int fd, char *request, size_t max)
{
    size_t size = 0;

    while (size < max - 1) {
        ssize_t got = recv(fd, request + size, max - 1 - size, 0);

        if (got <= 0)
            return false;
        size += (size_t)got;
        request[size] = '\0';
        if (strstr(request, "\r\n\r\n"))
            return true;
    }
    return false;
}

static void serve(int fd)
{
    static const struct timeval patience = {.tv_sec = PATIENCE_S};
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char request[REQUEST_MAX], rest[256];
    const char *text;

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (!read_request(fd, request, sizeof(request)))
        return;
    struct answer answer = answer_request(arena, request);
    text = arena_printf(arena,
                        "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                        "Connection: close\r\n\r\n%s",
                        answer.status, strlen(answer.body), answer.body);
    if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
        return;
    if (answer.exit_code == NOT_ASKED)
        return;
    /* The client has received the answer when it closes its side, too. */
    shutdown(fd, SHUT_WR);
    while (recv(fd, rest, sizeof(rest), 0) > 0)
        ;
    exit((int)answer.exit_code);
}

static int listen_on(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 64) < 0) {
        fprintf(stderr, "conformance-replica: port %d: %m\n", port);
        exit(1);
    }
    return fd;
}

int main(int count, char **arguments)
{
    struct options options = read_options(count, arguments);

    /* Without a handler, the first process of a container ignores SIGTERM. */
    term_code = (sig_atomic_t)options.on_term;
    signal(SIGTERM, options.ignore_term ? SIG_IGN : on_term);
    if (options.exit_code != NOT_ASKED)
        return (int)options.exit_code;
    int listener = listen_on((int)options.port);
    printf("listening on %d\n", (int)options.port);
    fflush(stdout);
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        if (fd < 0)
            continue;
        serve(fd);
        close(fd);
    }
}
