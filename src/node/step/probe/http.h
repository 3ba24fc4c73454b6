/* The little HTTP that probes and hooks need: a GET, the head of its answer, and where a redirect
 * leads. Text in, text out; sockets are step/check_net.c's. */
#ifndef TRAINYARD_NODE_STEP_HTTP_H
#define TRAINYARD_NODE_STEP_HTTP_H

#include "base/buf.h"
#include "base/err.h"
#include "node/pod/life.h"

enum {
    STEP_HOST_MAX = 256,
    STEP_PATH_MAX = 4096,
    STEP_ANSWER_MAX = 32 * 1024, /* head, and as much of the body as anybody looks at */
};

struct step_url {
    bool tls;
    char host[STEP_HOST_MAX];
    int port;
    char path[STEP_PATH_MAX]; /* with the query, from its '/' on */
};

struct step_answer {
    int status;
    char location[STEP_PATH_MAX]; /* "": none */
    size_t body;                  /* where it begins */
};

int step_url_of(const struct pod_handler *handler, struct step_url *ret, struct err *err);
void step_url_write(const struct step_url *url, struct buf *buf);
/* Where `location`, found at `from`, leads. */
int step_url_follow(const struct step_url *from, const char *location, struct step_url *ret,
                    struct err *err);

/* `agent`: who asks, unless a header says it. */
void step_http_request(const struct step_url *url, const struct pod_strings *headers,
                       const char *agent, struct buf *buf);

/* 1: the head is whole; 0: more is needed. */
int step_http_parse(const char *text, size_t size, struct step_answer *ret, struct err *err);

#endif
