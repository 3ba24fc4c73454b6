/* The part of HTTP that probes and hooks need: a GET request, the head of its answer, and the
 * target of a redirect. These functions work on text; the sockets are in step/probe/check_net.c. */
#ifndef TRAINYARD_NODE_STEP_PROBE_HTTP_H
#define TRAINYARD_NODE_STEP_PROBE_HTTP_H

#include "base/buf.h"
#include "base/err.h"
#include "node/pod/life.h"

enum {
    STEP_HOST_MAX = 256,
    STEP_PATH_MAX = 4096,
    STEP_ANSWER_MAX = 32 * 1024, /* bytes of the head and of the part of the body that is used */
};

struct step_url {
    bool tls;
    char host[STEP_HOST_MAX];
    int port;
    char path[STEP_PATH_MAX]; /* from the first '/' on, with the query */
};

struct step_answer {
    int status;
    char location[STEP_PATH_MAX]; /* "" if there is none */
    size_t body;                  /* the offset of the body in the parsed text */
};

/* Makes the URL of a probe or hook. Returns a negative code if it is too long, or if its path
 * contains a space or a control character. */
int step_url_of(const struct pod_handler *handler, struct step_url *ret, struct err *err);
/* Appends the URL as text, as in "http://10.244.1.2:80/path". */
void step_url_write(const struct step_url *url, struct buf *buf);
/* Resolves `location`, to which the answer from the URL `from` redirects. Returns a negative code
 * if the resulting URL is too long or not valid. */
int step_url_follow(const struct step_url *from, const char *location, struct step_url *ret,
                    struct err *err);

/* Appends a GET request. `agent` is the value of User-Agent unless `headers` has one. */
void step_http_request(const struct step_url *url, const struct pod_strings *headers,
                       const char *agent, struct buf *buf);

/* Parses the answer received so far. Returns 1 if the head is complete, 0 if more text is needed,
 * or a negative code if it is no HTTP answer. */
int step_http_parse(const char *text, size_t size, struct step_answer *ret, struct err *err);

#endif
