/* A small API of pods behind the in-process transport, for tests of the client: lists, watches with
 * history, answers to writes, and faults on request. */
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
    VEC(char *) requests;             /* "METHOD PATH?QUERY BODY", in the order of arrival */
    char accept[128];                 /* the Accept header of the last request */
    VEC(struct fake_reply *) replies; /* replies that wait for their delay */

    /* Faults. */
    int fail_count; /* number of further requests that are answered with fail_status */
    int fail_status;
    size_t page_max; /* objects per page of a list, if the client asks for pages; 0: no maximum */
    const char *retry_after;   /* the Retry-After header of failures, or NULL */
    int64_t delay_ms;          /* delay of every answer except watches */
    int64_t oldest_revision;   /* a watch from an older revision gets an ERROR event with 410 */
    bool refuse_old_by_status; /* answers 410 as the HTTP status instead */
    bool silent;               /* no request is answered any more */
};

void fake_api_init(struct fake_api *api, struct loop *loop);
void fake_api_release(struct fake_api *api);

/* Creates or changes the pod default/NAME; `value` is its label "v". */
void fake_api_put(struct fake_api *api, const char *name, const char *value);
void fake_api_delete(struct fake_api *api, const char *name);
/* Removes the pod without an event, as if history was lost. */
void fake_api_delete_unseen(struct fake_api *api, const char *name);
void fake_api_bookmark(struct fake_api *api);
/* Ends every watch: after a whole line, or within one. */
void fake_api_cut_watches(struct fake_api *api, bool within_line);
void fake_api_write_watches(struct fake_api *api, const char *text);

/* Returns the number of requests that contain the text. */
size_t fake_api_count(const struct fake_api *api, const char *text);

#endif
