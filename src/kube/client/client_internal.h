/* Shared by the files of this folder; not for other folders. */
#ifndef TRAINYARD_KUBE_CLIENT_CLIENT_INTERNAL_H
#define TRAINYARD_KUBE_CLIENT_CLIENT_INTERNAL_H

#include "base/list.h"
#include "base/map.h"
#include "base/rand.h"
#include "kube/client/client.h"
#include "kube/client/event_budget.h"

struct kube_call;
struct kube_event_entry;

struct kube_client {
    struct loop *loop;
    struct http_transport *transport;
    char *agent;
    int64_t timeout_ms; /* for each request, except of lists and watches */
    struct rand rand;   /* random waits and watch timeouts; random part of the names of events */
    struct list_head calls;         /* struct kube_call */
    struct list_head watches;       /* struct kube_watch */
    struct map events;              /* recorded events by content: struct kube_event_entry */
    struct hash_key event_key;      /* the key of the hashes that identify events and budgets */
    struct list_head events_by_age; /* struct kube_event_entry, the oldest first */
    struct kube_event_budget event_budget;
    struct kube_event_entry *first_queued, *last_queued; /* events that wait to be written */
    size_t queue_length;                                 /* number of queued events */
    size_t events_under_way; /* number of new events that are being written */
    int64_t event_ms;        /* when the newest event was created; wall time */
    uint64_t event_place;    /* number of older events with the same event_ms */
};

/* Like kube_list(), but can be cancelled, and lists one page if `page` is not NULL. The call is
 * freed after `done` has run. kube_call_cancel() frees it without running `done`. */
struct kube_call *kube_call_list(struct kube_client *client, const struct kube_resource *resource,
                                 const char *namespace_, const char *label_selector,
                                 const char *field_selector, const struct kube_list_page *page,
                                 kube_done *done, void *context);
void kube_call_cancel(struct kube_call *call);

/* Returns the query with "name=value" appended, in the arena. A NULL or empty value leaves the
 * query unchanged. */
char *kube_query_add(struct arena *arena, char *query, const char *name, const char *value);

/* Returns the headers of a request, in the arena. `accept` NULL: "application/json". `content_type`
 * NULL: the request has no body. */
struct http_header *kube_client_headers(struct kube_client *client, struct arena *arena,
                                        const char *accept, const char *content_type);

/* Stops all watches without calling their `end`. A watch that is inside a callback frees itself
 * when the callback returns. */
void kube_client_stop_watches(struct kube_client *client);
/* Frees all recorded events, including those that are queued. */
void kube_client_forget_events(struct kube_client *client);

#endif
