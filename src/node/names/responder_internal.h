/* What the files of the responder share: names/responder.c answers, names/responder_line.c keeps
 * those who ask over TCP, names/responder_forward.c asks others. */
#ifndef TRAINYARD_NODE_NAMES_RESPONDER_INTERNAL_H
#define TRAINYARD_NODE_NAMES_RESPONDER_INTERNAL_H

#include "base/ring.h"
#include "base/system/file.h"
#include "node/names/answer.h"
#include "node/names/resolvers.h"
#include "node/names/responder.h"
#include "node/step/helper/epoll_watch.h"

enum {
    RESPONDER_PREFIX = 2,         /* over TCP: the length before a message */
    RESPONDER_QUERY_MAX = 4096,   /* a query is a name and an OPT record */
    RESPONDER_FORWARDS_MAX = 512, /* asked of others and not answered yet */
};

struct responder {
    struct responder_options options;
    int epoll_fd;
    struct epoll_watch udp, tcp;
    struct names_table table;
    struct ring lines, forwards;           /* in the order of their deadlines */
    struct ring dead_lines, dead_forwards; /* freed after the turn */
    size_t line_count, forward_count;
    int64_t accept_ms; /* when to accept again; 0: now */
    struct resolver resolvers[RESOLVERS_MAX];
    size_t resolver_count;
    struct file_stamp resolv_stamp; /* of the file they are from */
    uint8_t scratch[DNS_TCP_MAX];
};

/* Who asked. */
struct responder_line;
struct responder_asker {
    struct responder_line *line; /* over TCP; NULL: over UDP, or gone */
    bool over_tcp;
    struct sockaddr_in peer; /* over UDP */
};

int64_t responder_now_ms(const struct responder *responder);
size_t responder_answer_max(const struct responder_asker *asker, const struct dns_query *query);
void responder_say(struct responder *responder, const struct responder_asker *asker,
                   const void *data, size_t size);
/* A packet that should be a query. */
void responder_take(struct responder *responder, const struct responder_asker *asker,
                    const void *data, size_t size);
/* A code and nothing else. */
void responder_refuse(struct responder *responder, const struct responder_asker *asker,
                      const struct dns_query *query, enum dns_rcode rcode, bool is_cut);

/* ---- names/responder_line.c */
void responder_accept(struct epoll_watch *watch, uint32_t events);
void responder_line_say(struct responder_line *line, const void *data, size_t size);
/* One more, or one fewer, answer that it waits for from others; false: it waits for enough. */
bool responder_line_wait(struct responder_line *line);
void responder_line_done(struct responder_line *line);
void responder_lines_expire(struct responder *responder, int64_t now_ms);
int64_t responder_lines_deadline(const struct responder *responder); /* 0: none */
void responder_lines_bury(struct responder *responder);
void responder_lines_end(struct responder *responder);

/* ---- names/responder_forward.c */
/* Ask the machine's name servers: for the query itself, or for another name (NULL: its own). */
void responder_forward(struct responder *responder, const struct responder_asker *asker,
                       const struct dns_query *query, size_t query_size, const char *name);
/* Nobody waits for it any more. */
void responder_forwards_forget(struct responder *responder, const struct responder_line *line);
void responder_forwards_expire(struct responder *responder, int64_t now_ms);
int64_t responder_forwards_deadline(const struct responder *responder); /* 0: none */
void responder_forwards_bury(struct responder *responder);
void responder_forwards_end(struct responder *responder);

#endif
