/* A minimal resolver: one question over UDP, A records only; see replica_lookup.h. Called by the
 * replica of the conformance suite. Whatever the server sends, it must not read beyond the end of
 * the message. */
#include "replica_lookup.h"

#include "base/mem.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SERVERS_MAX = 3, SEARCH_MAX = 8, MESSAGE_MAX = 1500, HEADER_SIZE = 12, TRIES = 3 };
enum answer { ANSWER_NONE, ANSWER_EMPTY, ANSWER_FOUND };

struct settings {
    struct sockaddr_in servers[SERVERS_MAX];
    size_t server_count;
    char search[SEARCH_MAX][256];
    size_t search_count;
    int ndots;
};

static void read_line(struct settings *settings, char *line)
{
    char *rest = line;
    const char *key = strsep(&rest, " \t\n");
    char *word;

    while ((word = strsep(&rest, " \t\n"))) {
        if (!*word)
            continue;
        if (str_eq(key, "nameserver") && settings->server_count < SERVERS_MAX) {
            struct sockaddr_in *server = &settings->servers[settings->server_count];

            server->sin_family = AF_INET;
            server->sin_port = htons(53);
            settings->server_count += inet_pton(AF_INET, word, &server->sin_addr) == 1;
        } else if (str_eq(key, "search") && settings->search_count < SEARCH_MAX) {
            str_copy(settings->search[settings->search_count++], 256, word);
        } else if (str_eq(key, "options")) {
            sscanf(word, "ndots:%d", &settings->ndots);
        }
    }
}

static void read_settings(struct settings *settings)
{
    FILE *file = fopen("/etc/resolv.conf", "re");
    char line[1024];

    *settings = (struct settings){.ndots = 1};
    if (!file)
        return;
    while (fgets(line, sizeof(line), file))
        read_line(settings, line);
    fclose(file);
}

/* Writes the question and returns its size, or 0 if the name is invalid. */
static size_t write_question(unsigned char out[MESSAGE_MAX], const char *name)
{
    static const unsigned char header[HEADER_SIZE] = {0x54, 0x59, 1, 0, 0, 1};
    size_t size = HEADER_SIZE;

    memcpy(out, header, HEADER_SIZE);
    while (*name) {
        size_t length = strcspn(name, ".");

        if (length == 0 || length > 63 || size + length > 250)
            return 0;
        out[size++] = (unsigned char)length;
        memcpy(out + size, name, length);
        size += length;
        name += length + (name[length] == '.');
    }
    memcpy(out + size, "\0\0\1\0\1", 5); /* the root, type A, class IN */
    return size + 5;
}

/* Returns the offset after a name in a message, or `size` if the name does not end within it. */
static size_t skip_name(const unsigned char *message, size_t size, size_t at)
{
    while (at < size) {
        if (message[at] == 0)
            return at + 1;
        if (message[at] >= 0xc0)
            return at + 2 <= size ? at + 2 : size;
        at += message[at] + 1U;
    }
    return size;
}

static enum answer read_answer(struct arena *arena, const unsigned char *message, size_t size,
                               struct json *ret)
{
    size_t at = skip_name(message, size, HEADER_SIZE) + 4;
    int records = message[6] << 8 | message[7];
    enum answer answer = ANSWER_EMPTY;

    for (int i = 0; i < records; i++) {
        at = skip_name(message, size, at);
        if (at + 10 > size)
            break;
        size_t length = (size_t)(message[at + 8] << 8 | message[at + 9]);
        bool is_address = message[at] == 0 && message[at + 1] == 1 && length == 4;
        at += 10;
        if (at + length > size)
            break;
        if (is_address) {
            json_append(ret, json_stringf(arena, "%d.%d.%d.%d", message[at], message[at + 1],
                                          message[at + 2], message[at + 3]));
            answer = ANSWER_FOUND;
        }
        at += length;
    }
    return answer;
}

static enum answer ask(struct arena *arena, const struct sockaddr_in *server, const char *name,
                       struct json *ret)
{
    static const struct timeval patience = {.tv_sec = 2};
    unsigned char message[MESSAGE_MAX];
    size_t size = write_question(message, name);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ssize_t got = -1;

    if (fd < 0 || size == 0) {
        if (fd >= 0)
            close(fd);
        return size == 0 ? ANSWER_EMPTY : ANSWER_NONE;
    }
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connect(fd, (const struct sockaddr *)server, sizeof(*server)) == 0) {
        for (int i = 0; i < TRIES && got < HEADER_SIZE; i++) {
            if (send(fd, message, size, 0) == (ssize_t)size)
                got = recv(fd, message, sizeof(message), 0);
        }
    }
    close(fd);
    return got < HEADER_SIZE ? ANSWER_NONE : read_answer(arena, message, (size_t)got, ret);
}

static enum answer ask_any(struct arena *arena, const struct settings *settings, const char *name,
                           struct json *ret)
{
    enum answer answer = ANSWER_NONE;

    for (size_t i = 0; i < settings->server_count && answer == ANSWER_NONE; i++)
        answer = ask(arena, &settings->servers[i], name, ret);
    return answer;
}

/* Each line of the file is an address and its names. */
static enum answer read_hosts(struct arena *arena, const char *name, struct json *ret)
{
    FILE *file = fopen("/etc/hosts", "re");
    char line[1024];
    enum answer answer = ANSWER_NONE;

    while (file && fgets(line, sizeof(line), file)) {
        char *rest = line, *address = strtok_r(line, " \t\n", &rest);

        if (!address || address[0] == '#' || strchr(address, ':'))
            continue;
        for (const char *word; (word = strtok_r(NULL, " \t\n", &rest));) {
            if (str_eq(word, name)) {
                json_append(ret, json_string(arena, address));
                answer = ANSWER_FOUND;
            }
        }
    }
    if (file)
        fclose(file);
    return answer;
}

struct json *replica_lookup(struct arena *arena, const char *name)
{
    struct json *found = json_array(arena);
    struct settings settings;
    enum answer best = ANSWER_NONE, answer;
    int dots = 0;

    if (read_hosts(arena, name, found) == ANSWER_FOUND)
        return found;
    read_settings(&settings);
    for (const char *c = name; *c; c++)
        dots += *c == '.';
    bool first = dots >= settings.ndots;
    if (first)
        best = ask_any(arena, &settings, name, found);
    for (size_t i = 0; i < settings.search_count && best != ANSWER_FOUND; i++) {
        answer = ask_any(arena, &settings, arena_printf(arena, "%s.%s", name, settings.search[i]),
                         found);
        best = answer > best ? answer : best;
    }
    if (!first && best != ANSWER_FOUND) {
        answer = ask_any(arena, &settings, name, found);
        best = answer > best ? answer : best;
    }
    return best == ANSWER_NONE ? NULL : found;
}
