/* A small API of pods behind the in-process transport, for tests of the client's side: lists,
 * watches with history, answers to writes, and faults on request. */
#ifndef TRAINYARD_TESTS_UNIT_KUBE_FAKE_API_H
#define TRAINYARD_TESTS_UNIT_KUBE_FAKE_API_H

#include "base/map.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "net/http/http.h"

struct fake_watcher;
struct fake_reply;

struct fake_event {
    int64_t revision;
    char *line;
};

struct fake_api {
    struct loop *loop;
    struct http_transport *transport;
    int64_t revision;
    struct map objects; /* name → JSON text */
    VEC(char *) names;  /* in order of creation */
    VEC(struct fake_event) history;
    VEC(struct fake_watcher *) watchers;
    VEC(char *) requests;             /* "METHOD PATH?QUERY BODY", as they came */
    char accept[128];                 /* what the last one accepts */
    VEC(struct fake_reply *) replies; /* that wait for their delay */

    /* Faults. */
    int fail_count; /* so many requests are answered with fail_status */
    int fail_status;
    size_t page_max;           /* objects a page of a list, where one is asked for; 0: all */
    const char *retry_after;   /* of the answers that fail, or NULL */
    int64_t delay_ms;          /* every answer but a watch comes so much later */
    int64_t oldest_revision;   /* a watch from before it is answered with an ERROR event of 410 */
    bool refuse_old_by_status; /* … or by HTTP status */
    bool silent;               /* nothing is answered any more */
};

void fake_api_init(struct fake_api *api, struct loop *loop);
void fake_api_release(struct fake_api *api);

/* Create or change the pod default/NAME; `value` is its label "v". */
void fake_api_put(struct fake_api *api, const char *name, const char *value);
void fake_api_delete(struct fake_api *api, const char *name);
/* Remove without telling any watcher, as if history was lost. */
void fake_api_delete_unseen(struct fake_api *api, const char *name);
void fake_api_bookmark(struct fake_api *api);
/* End every watch: at the end of a line, or within one. */
void fake_api_cut_watches(struct fake_api *api, bool within_line);
void fake_api_write_watches(struct fake_api *api, const char *text);

/* How many requests contain the text. */
size_t fake_api_count(const struct fake_api *api, const char *text);

#endif
