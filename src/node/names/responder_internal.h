/* Shared by the files of the responder: names/responder.c answers, names/responder_line.c serves
 * TCP clients, and names/responder_forward.c asks other servers. */
#ifndef TRAINYARD_NODE_NAMES_RESPONDER_INTERNAL_H
#define TRAINYARD_NODE_NAMES_RESPONDER_INTERNAL_H

#include "base/list.h"
#include "base/system/file.h"
#include "node/names/answer.h"
#include "node/names/resolvers.h"
#include "node/names/responder.h"
#include "node/step/helper/epoll_watch.h"

enum {
    RESPONDER_PREFIX = 2,         /* bytes of the length field before a message over TCP */
    RESPONDER_QUERY_MAX = 4096,   /* bytes of a query: a name and an OPT record */
    RESPONDER_FORWARDS_MAX = 512, /* queries forwarded and not answered yet */
};

struct responder {
    struct responder_options options;
    int epoll_fd;
    struct epoll_watch udp, tcp;
    struct names_table table;
    /* TCP connections and forwarded queries. Each list is sorted by deadline. */
    struct list_head lines, forwards;
    struct list_head dead_lines,
        dead_forwards; /* freed after the events of this turn are handled */
    size_t line_count, forward_count;
    int64_t accept_ms; /* the time to accept connections again; 0: accepting is not paused */
    struct resolver resolvers[RESOLVERS_MAX];
    size_t resolver_count;
    struct file_stamp resolv_stamp; /* the version of resolv.conf that `resolvers` was read from */
    uint8_t scratch[DNS_TCP_MAX];
};

/* The client that sent a query. */
struct responder_line;
struct responder_asker {
    struct responder_line
        *line; /* its TCP connection; NULL for UDP or after the connection was closed */
    bool over_tcp;
    struct sockaddr_in peer; /* its address, for UDP */
};

int64_t responder_now_ms(const struct responder *responder);
size_t responder_answer_max(const struct responder_asker *asker, const struct dns_query *query);
void responder_say(struct responder *responder, const struct responder_asker *asker,
                   const void *data, size_t size);
/* Handles a packet that should be a query. */
void responder_take(struct responder *responder, const struct responder_asker *asker,
                    const void *data, size_t size);
/* Answers with a code and no records. */
void responder_refuse(struct responder *responder, const struct responder_asker *asker,
                      const struct dns_query *query, enum dns_rcode rcode, bool is_cut);

/* ---- names/responder_line.c */
void responder_accept(struct epoll_watch *watch, uint32_t events);
void responder_line_say(struct responder_line *line, const void *data, size_t size);
/* Counts a forwarded query that the connection waits for. Returns false if it already waits for
 * the maximum. */
bool responder_line_wait(struct responder_line *line);
void responder_line_done(struct responder_line *line);
void responder_lines_expire(struct responder *responder, int64_t now_ms);
int64_t responder_lines_deadline(const struct responder *responder); /* 0 if there is none */
/* Frees closed connections. */
void responder_lines_bury(struct responder *responder);
void responder_lines_end(struct responder *responder);

/* ---- names/responder_forward.c */
/* Forwards the query to the machine's name servers. `name` replaces the name in the query; NULL
 * means that the name is not replaced. */
void responder_forward(struct responder *responder, const struct responder_asker *asker,
                       const struct dns_query *query, size_t query_size, const char *name);
/* Drops the forwarded queries of a connection that is closed. */
void responder_forwards_forget(struct responder *responder, const struct responder_line *line);
void responder_forwards_expire(struct responder *responder, int64_t now_ms);
int64_t responder_forwards_deadline(const struct responder *responder); /* 0 if there is none */
/* Frees forwarded queries that have ended. */
void responder_forwards_bury(struct responder *responder);
void responder_forwards_end(struct responder *responder);

#endif
