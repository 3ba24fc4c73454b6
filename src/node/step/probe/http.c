/* Writes a GET request and parses its answer; see step/probe/http.h. A program of the pod wrote the
 * answer, so nothing in it is trusted, and every length is checked. */
#include "node/step/probe/http.h"

#include "base/str.h"

#include <string.h>
#include <strings.h>

enum { PORT_HTTP = 80, PORT_HTTPS = 443, STATUS_LINE_LEAST = 16 };

/* ---- URLs ---- */

static int too_long(struct err *err)
{
    return err_set(err, ERR_TOO_LARGE, "the URL is too long");
}

static int set_path(struct step_url *url, const char *path, size_t size, struct err *err)
{
    bool rooted = size > 0 && path[0] == '/';
    if (size + 2 > sizeof(url->path))
        return too_long(err);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)path[i] <= ' ')
            return err_set(err, ERR_INVALID,
                           "the path of the URL contains a space or a control character");
    memcpy(url->path, "/", 2);
    memcpy(url->path + !rooted, path, size);
    url->path[size + !rooted] = '\0';
    return 0;
}

int step_url_of(const struct pod_handler *handler, struct step_url *ret, struct err *err)
{
    const char *path = handler->path ? handler->path : "";
    *ret = (struct step_url){.tls = handler->tls, .port = (int)handler->port};
    if (!str_copy(ret->host, sizeof(ret->host), handler->host ? handler->host : ""))
        return too_long(err);
    return set_path(ret, path, strcspn(path, "#"), err);
}

static void write_host(const struct step_url *url, struct buf *buf)
{
    bool is_six = strchr(url->host, ':') != NULL;
    buf_printf(buf, "%s%s%s:%d", is_six ? "[" : "", url->host, is_six ? "]" : "", url->port);
}

void step_url_write(const struct step_url *url, struct buf *buf)
{
    buf_append_str(buf, url->tls ? "https://" : "http://");
    write_host(url, buf);
    buf_append_str(buf, url->path);
}

/* Parses "host", "host:port" or "[::1]:port". */
static int set_authority(struct step_url *url, const char *text, size_t size, struct err *err)
{
    const char *end = text + size, *host = text, *host_end;
    if (size && *text == '[') {
        host++;
        host_end = memchr(host, ']', (size_t)(end - host));
        if (!host_end)
            return err_set(err, ERR_INVALID, "the URL has '[' without ']'");
    } else {
        host_end = memchr(host, ':', size);
        host_end = host_end ? host_end : end;
    }
    if ((size_t)(host_end - host) >= sizeof(url->host) || host_end == host)
        return err_set(err, ERR_INVALID, "the URL has no host, or one that is too long");
    memcpy(url->host, host, (size_t)(host_end - host));
    url->host[host_end - host] = '\0';
    if (host_end < end && *host_end == ']')
        host_end++;
    url->port = url->tls ? PORT_HTTPS : PORT_HTTP;
    if (host_end == end || host_end + 1 == end)
        return 0;
    char digits[8] = "";
    int64_t port;
    if (*host_end != ':' || end - host_end - 1 >= (ptrdiff_t)sizeof(digits))
        return err_set(err, ERR_INVALID, "the URL has an invalid port");
    memcpy(digits, host_end + 1, (size_t)(end - host_end - 1));
    int result = str_to_int64(digits, 1, 65535, &port, err);
    if (result == 0)
        url->port = (int)port;
    return result;
}

/* Resolves `location` relative to the directory of the URL's path. */
static int set_relative(struct step_url *url, const char *location, size_t size, struct err *err)
{
    size_t directory = strcspn(url->path, "?");
    while (directory > 1 && url->path[directory - 1] != '/')
        directory--;
    if (directory + size + 1 > sizeof(url->path))
        return too_long(err);
    char path[STEP_PATH_MAX];
    memcpy(path, url->path, directory);
    memcpy(path + directory, location, size);
    return set_path(url, path, directory + size, err);
}

int step_url_follow(const struct step_url *from, const char *location, struct step_url *ret,
                    struct err *err)
{
    struct step_url url = *from;
    size_t size = strcspn(location, "#");
    const char *end = location + size, *authority = NULL;
    int result;
    if (strncasecmp(location, "http://", 7) == 0) {
        url.tls = false;
        authority = location + 7;
    } else if (strncasecmp(location, "https://", 8) == 0) {
        url.tls = true;
        authority = location + 8;
    } else if (str_has_prefix(location, "//")) {
        authority = location + 2;
    }
    if (authority) {
        size_t length = strcspn(authority, "/?#");
        if ((result = set_authority(&url, authority, length, err)) == 0)
            result = set_path(&url, authority + length, (size_t)(end - authority) - length, err);
    } else if (*location == '/') {
        result = set_path(&url, location, size, err);
    } else {
        result = set_relative(&url, location, size, err);
    }
    if (result == 0)
        *ret = url;
    return result;
}

/* ---- The request ---- */

/* Returns the value of the header, or NULL if there is none. `name` has no colon. */
static const char *find_header(const struct pod_strings *headers, const char *name)
{
    size_t size = strlen(name);
    for (size_t i = 0; i < headers->count; i++)
        if (strncasecmp(headers->items[i], name, size) == 0 && headers->items[i][size] == ':')
            return headers->items[i] + size + 1 + strspn(headers->items[i] + size + 1, " ");
    return NULL;
}

void step_http_request(const struct step_url *url, const struct pod_strings *headers,
                       const char *agent, struct buf *buf)
{
    const char *host = find_header(headers, "Host"), *accept = find_header(headers, "Accept");
    buf_printf(buf, "GET %s HTTP/1.1\r\nHost: ", url->path);
    if (host && *host)
        buf_append_str(buf, host);
    else
        write_host(url, buf);
    buf_append_str(buf, "\r\n");
    if (!find_header(headers, "User-Agent"))
        buf_printf(buf, "User-Agent: %s\r\n", agent);
    if (!accept)
        buf_append_str(buf, "Accept: */*\r\n");
    for (size_t i = 0; i < headers->count; i++) {
        bool is_empty_accept =
            accept && !*accept && strncasecmp(headers->items[i], "Accept:", 7) == 0;
        if (strncasecmp(headers->items[i], "Host:", 5) != 0 && !is_empty_accept)
            buf_printf(buf, "%s\r\n", headers->items[i]);
    }
    buf_append_str(buf, "Connection: close\r\n\r\n");
}

/* ---- The answer ---- */

/* Returns the end of the head, where the body begins, or NULL if the head is not complete. */
static const char *find_body(const char *text, size_t size)
{
    for (const char *at = text, *end = text + size; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline)
            return NULL;
        if (newline == at || (newline == at + 1 && *at == '\r'))
            return newline + 1;
        at = newline + 1;
    }
    return NULL;
}

static void http_read_header(const char *line, size_t size, struct step_answer *answer)
{
    static const char name[] = "location:";
    if (size < strlen(name) || strncasecmp(line, name, strlen(name)) != 0)
        return;
    const char *value = line + strlen(name), *end = line + size;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && strchr(" \t\r", end[-1]))
        end--;
    if ((size_t)(end - value) < sizeof(answer->location)) {
        memcpy(answer->location, value, (size_t)(end - value));
        answer->location[end - value] = '\0';
    }
}

/* Parses a line such as "HTTP/1.1 200 OK". */
static int read_status(const char *line, size_t size, int *ret, struct err *err)
{
    const char *space = memchr(line, ' ', size);
    size_t left = space ? size - (size_t)(space + 1 - line) : 0;
    if (size < 5 || memcmp(line, "HTTP/", 5) != 0 || left < 3 || (left > 3 && space[4] > ' '))
        return err_set(err, ERR_BAD_REQUEST, "malformed HTTP response \"%.*s\"",
                       (int)(size < 64 ? size : 64), line);
    *ret = 0;
    for (int i = 1; i <= 3; i++) {
        if (space[i] < '0' || space[i] > '9')
            return err_set(err, ERR_BAD_REQUEST, "malformed HTTP status code \"%.3s\"", space + 1);
        *ret = *ret * 10 + (space[i] - '0');
    }
    return 0;
}

static void read_headers(const char *head, const char *body, struct step_answer *answer)
{
    const char *line = head, *newline;
    while ((newline = memchr(line, '\n', (size_t)(body - line))) && newline + 1 < body) {
        line = newline + 1;
        const char *end = memchr(line, '\n', (size_t)(body - line));
        http_read_header(line, (size_t)(end - line), answer);
    }
}

int step_http_parse(const char *text, size_t size, struct step_answer *ret, struct err *err)
{
    struct step_answer answer = {0};
    for (const char *head = text, *end = text + size;;) {
        size_t left = (size_t)(end - head);
        const char *newline = memchr(head, '\n', left);
        /* Waits for a whole line, or for enough bytes to reject text that is no HTTP answer. */
        if (!newline && left < STATUS_LINE_LEAST)
            return 0;
        size_t first = newline ? (size_t)(newline - head) : left;
        if (first && head[first - 1] == '\r')
            first--;
        int result = read_status(head, first, &answer.status, err);
        if (result < 0)
            return result;
        const char *body = find_body(head, left);
        if (!body)
            return 0;
        if (answer.status >= 200) {
            read_headers(head, body, &answer);
            answer.body = (size_t)(body - text);
            *ret = answer;
            return 1;
        }
        head = body; /* this was an informational response (1xx); the answer follows */
    }
}
