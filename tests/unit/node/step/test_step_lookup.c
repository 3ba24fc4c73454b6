/* Tests the DNS lookups of probes: which names are asked of which server, and which answers are
 * accepted. The test plays the name server, in its own network namespace, where port 53 is free. */
#include "node_test.h"

#include "dns_text.h"
#include "own_network.h"

#include "base/buf.h"
#include "base/moment.h"
#include "base/system/file.h"
#include "node/names/resolvers.h"
#include "node/step/probe/lookup.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, DEADLINE_MS = 60 * 1000 };

static int asked_fd; /* the names that the server was asked for, one per line */

/* ---- the server ------------------------------------------------------------------------------ */

static void put_record(struct dns_text_message *answer, unsigned type, unsigned class,
                       const void *data, size_t size)
{
    dns_text_put_u16(answer, 0xC00C); /* a pointer to the name of the question */
    dns_text_put_u16(answer, type);
    dns_text_put_u16(answer, class);
    dns_text_put_u16(answer, 0);
    dns_text_put_u16(answer, 1);
    dns_text_put_u16(answer, (unsigned)size);
    dns_text_put(answer, data, size);
    answer->bytes[7]++;
}

/* Begins an answer with a copy of the question. */
static struct dns_text_message *begin_answer(const struct dns_text_message *question)
{
    static struct dns_text_message answer;
    answer = *question;
    answer.bytes[2] |= 0x80;
    return &answer;
}

static void send_answer(int fd, const struct sockaddr_in *who,
                        const struct dns_text_message *question, const char *name)
{
    static const uint8_t RIGHT[] = {10, 1, 2, 3}, WRONG[] = {6, 6, 6, 6};
    struct dns_text_message *out = begin_answer(question);
#define SEND() sendto(fd, out->bytes, out->size, 0, (const struct sockaddr *)who, sizeof(*who))
    if (str_has_prefix(name, "known")) {
        put_record(out, DNS_A, 1, RIGHT, 4);
    } else if (str_has_prefix(name, "alias")) {
        put_record(out, DNS_CNAME, 1, "\5known", 7);
        put_record(out, DNS_A, 1, RIGHT, 4);
    } else if (str_has_prefix(name, "error")) {
        put_record(out, DNS_A, 1, WRONG, 4);
        out->bytes[3] |= DNS_SERVFAIL;
    } else if (str_has_prefix(name, "odd")) {
        put_record(out, DNS_A, 3, WRONG, 4); /* another class */
        put_record(out, DNS_A, 1, WRONG, 3); /* not a whole address */
        put_record(out, DNS_AAAA, 1, "0123456789abcdef", 16);
    } else if (str_has_prefix(name, "cut")) {
        put_record(out, DNS_A, 1, WRONG, 4);
        out->size -= 2;
    } else if (str_has_prefix(name, "forged")) {
        put_record(out, DNS_A, 1, WRONG, 4);
        out->bytes[0] ^= 1; /* another id */
        SEND();
        out->bytes[0] ^= 1;
        out->bytes[13] ^= 3; /* another name */
        SEND();
        out->bytes[13] ^= 3;
        out->bytes[2] &= 0x7F; /* not an answer */
        SEND();
        out->size = 5;
        SEND();
        out = begin_answer(question);
        put_record(out, DNS_A, 1, RIGHT, 4);
    } else {
        out->bytes[3] |= DNS_NXDOMAIN;
    }
    SEND();
#undef SEND
}

static void run_server(int fd, int told) __attribute__((noreturn));
static void run_server(int fd, int told)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        struct dns_text_message question = {0};
        struct sockaddr_in who;
        socklen_t who_size = sizeof(who);
        ssize_t size = recvfrom(fd, question.bytes, sizeof(question.bytes), 0,
                                (struct sockaddr *)&who, &who_size);
        struct dns_query query;
        enum dns_rcode rcode;
        question.size = size > 0 ? (size_t)size : 0;
        if (!dns_query_read(question.bytes, question.size, &query, &rcode) || query.type != DNS_A)
            _exit(1);
        dprintf(told, "%s\n", query.name);
        send_answer(fd, &who, &question, query.name);
    }
}

/* ---- the client ------------------------------------------------------------------------------ */

/* The timeout is long, because the machine may be slow. */
#define SERVER "nameserver 127.0.0.1\noptions timeout:30\n"

/* Returns the found address, or "none", followed by the names that the server was asked for. */
static char *look_up(const char *resolv_conf, const char *name)
{
    static char text[4096];
    struct in_addr address;
    size_t used = 0;
    bool found = step_lookup(resolv_conf, name, moment_monotonic_ms() + DEADLINE_MS, &address);
    used = (size_t)snprintf(text, sizeof(text), "%s:", found ? inet_ntoa(address) : "none");
    ssize_t got = read(asked_fd, text + used, sizeof(text) - used - 1);
    text[used + (got > 0 ? (size_t)got : 0)] = '\0';
    for (char *end; (end = strchr(text, '\n'));)
        *end = ' ';
    return text;
}

static void search_domains_are_asked_in_order(void **state)
{
    static const char SEARCH[] = SERVER "search one.local  two.local\toptions\n";
    assert_string_equal(look_up(SERVER, "known"), "10.1.2.3:known ");
    assert_string_equal(look_up(SERVER, "missing"), "none:missing ");
    assert_string_equal(look_up(SEARCH, "known"), "10.1.2.3:known.one.local ");
    assert_string_equal(look_up(SEARCH, "x"), "none:x.one.local x.two.local x.options x ");
    /* A name with a trailing dot is absolute. */
    assert_string_equal(look_up(SEARCH, "x."), "none:x ");
    assert_string_equal(look_up(SERVER "domain one.local", "a.b.c.d.e"),
                        "none:a.b.c.d.e.one.local a.b.c.d.e ");
    assert_string_equal(look_up(SERVER "domain one.local", "a.b.c.d.e.f"),
                        "none:a.b.c.d.e.f a.b.c.d.e.f.one.local ");
}

static void invalid_names_are_not_asked(void **state)
{
    char label[65], name[300] = "";
    memset(label, 'a', sizeof(label) - 1);
    label[64] = '\0';
    assert_string_equal(look_up(SERVER, ""), "none:");
    assert_string_equal(look_up(SERVER, "."), "none:");
    assert_string_equal(look_up(SERVER, "a..b"), "none:");
    assert_string_equal(look_up(SERVER, label), "none:");
    assert_string_equal(look_up("", "known"), "none:"); /* no name server */
    for (int i = 0; i < 63; i++)
        strcat(name, "abc.");
    strcat(name, "a"); /* 253 */
    assert_string_equal(look_up(SERVER "search local", name),
                        arena_printf(*state, "none:%s ", name));
    strcat(name, "a");
    assert_string_equal(look_up(SERVER, name), "none:");
}

static void only_valid_answers_are_accepted(void **state)
{
    assert_string_equal(look_up(SERVER, "alias"), "10.1.2.3:alias ");
    assert_string_equal(look_up(SERVER, "error"), "none:error ");
    assert_string_equal(look_up(SERVER, "odd"), "none:odd ");
    assert_string_equal(look_up(SERVER, "cut"), "none:cut ");
    assert_string_equal(look_up(SERVER, "forged"), "10.1.2.3:forged ");
}

static void next_server_is_asked(void **state)
{
    /* No process listens on the first two addresses. */
    assert_string_equal(look_up("nameserver 127.0.0.8\nnameserver 127.0.0.9\n" SERVER, "known"),
                        "10.1.2.3:known ");
    struct in_addr address;
    assert_false(step_lookup("nameserver 127.0.0.2\n", "known", moment_monotonic_ms(), &address));
}

/* Makes a network namespace with only a loopback, and starts a name server there. */
static int start_name_server(pid_t *ret_server)
{
    const struct sockaddr_in here = {.sin_family = AF_INET,
                                     .sin_port = htons(RESOLVERS_PORT),
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int told[2];
    if (!own_network_enter())
        return SKIPPED;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&here, sizeof(here)) < 0 ||
        pipe2(told, O_CLOEXEC | O_NONBLOCK) < 0 || (*ret_server = fork()) < 0)
        return 1;
    if (*ret_server == 0)
        run_server(fd, told[1]);
    close(fd);
    close(told[1]);
    asked_fd = told[0];
    return 0;
}

int main(void)
{
    struct arena *arena = arena_new();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_domains_are_asked_in_order),
        cmocka_unit_test_prestate(invalid_names_are_not_asked, arena),
        cmocka_unit_test(only_valid_answers_are_accepted),
        cmocka_unit_test(next_server_is_asked),
    };
    pid_t server;
    int result = start_name_server(&server);
    if (result == 0) {
        result = cmocka_run_group_tests(tests, NULL, NULL);
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
    }
    arena_free(arena);
    return result;
}
