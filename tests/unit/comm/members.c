/* Several processes that form a group on the loopback; see members.h. */
#include "members.h"

#include "base/buf.h"
#include "base/rand.h"
#include "comm/cluster/tf_config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Tests run in parallel, and a port must stay free until a member listens on it. An abstract socket
 * name reserves the port until this process and its children end. */
static bool reserve(int port)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "trainyard-test-port-%d", port);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof(name)) == 0)
        return true;
    close(fd);
    return false;
}

static bool is_free(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    bool bound = bind(fd, (struct sockaddr *)&any, sizeof(any)) == 0;
    close(fd);
    return bound;
}

/* Returns a port below the ephemeral range, so that no outgoing connection can take it. */
static int free_port(void)
{
    enum { LOWEST = 10000, BEYOND = 28000 };
    for (;;) {
        uint16_t draw;
        rand_secure(&draw, sizeof(draw));
        int port = LOWEST + draw % (BEYOND - LOWEST);
        if (reserve(port) && is_free(port))
            return port;
    }
}

void members_init(struct members *members, int size)
{
    *members = (struct members){.size = size};
    for (int i = 0; i < size; i++)
        members->ports[i] = free_port();
}

struct ty_tf_config *members_config(const struct members *members, bool with_chief, int rank)
{
    struct buf text;
    buf_init(&text, 4096);
    buf_append_str(&text, "{\"cluster\":{");
    for (int i = 0; i < members->size; i++) {
        if (i == 0 && with_chief)
            buf_printf(&text, "\"chief\":[\"127.0.0.1:%d\"]", members->ports[i]);
        else
            buf_printf(&text, "%s\"127.0.0.1:%d\"",
                       i == 0                 ? "\"worker\":["
                       : i == 1 && with_chief ? ",\"worker\":["
                                              : ",",
                       members->ports[i]);
    }
    bool chief = rank == 0 && with_chief;
    buf_printf(&text, "%s},\"task\":{\"type\":\"%s\",\"index\":%d}}",
               members->size > 1 || !with_chief ? "]" : "", chief ? "chief" : "worker",
               chief ? 0 : rank - with_chief);
    struct err err = ERR_INIT;
    struct ty_tf_config *config = NULL;
    CHECK_OK(tf_config_parse(text.data, text.size, &config, &err), &err);
    buf_release(&text);
    return config;
}

struct comm_options members_options(const struct ty_tf_config *config)
{
    return (struct comm_options){.config = config,
                                 .shape = 1,
                                 .secret = "of the test",
                                 .encrypt = getenv("TRAINYARD_TEST_ENCRYPT") != NULL,
                                 .join_timeout_ms = 60000,
                                 .timeout_ms = 60000,
                                 .report_ms = 50};
}

void members_start(struct members *members, int rank,
                   void (*member)(const struct members *members, int rank))
{
    fflush(NULL);
    members->children[rank] = fork();
    if (members->children[rank] == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        member(members, rank);
        exit(0);
    }
}

void members_start_all(struct members *members,
                       void (*member)(const struct members *members, int rank))
{
    for (int rank = 0; rank < members->size; rank++)
        members_start(members, rank, member);
}

int members_wait(struct members *members)
{
    int failed = 0;
    for (int rank = 0; rank < members->size; rank++) {
        int status;
        if (members->children[rank] <= 0)
            continue;
        if (waitpid(members->children[rank], &status, 0) < 0 || !WIFEXITED(status) ||
            WEXITSTATUS(status) != 0)
            failed++;
        members->children[rank] = 0;
    }
    return failed;
}
