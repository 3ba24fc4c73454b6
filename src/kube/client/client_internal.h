/* What the files of the client share and nobody else sees. */
#ifndef TRAINYARD_KUBE_CLIENT_INTERNAL_H
#define TRAINYARD_KUBE_CLIENT_INTERNAL_H

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
    int64_t timeout_ms; /* of a call that is no list */
    struct rand rand;   /* spreads retries and names events */
    struct kube_call *calls;
    struct kube_watch *watches;
    struct map events; /* what was recorded, by content: struct kube_event_entry */
    struct hash_key event_key;
    struct kube_event_entry *oldest_event, *newest_event;
    struct kube_event_budget event_budget;
    struct kube_event_entry *first_queued, *last_queued; /* to be written */
    size_t queue_length, events_under_way;
    int64_t event_ms;     /* when the newest was made … */
    uint64_t event_place; /* … and how many in that millisecond before it */
};

/* kube_list() that can be taken back, and page by page (`page` NULL: all at once): after
 * kube_call_cancel() no `done` comes. */
struct kube_call *kube_call_list(struct kube_client *client, const struct kube_resource *resource,
                                 const char *namespace_, const char *label_selector,
                                 const char *field_selector, const struct kube_list_page *page,
                                 kube_done *done, void *context);
void kube_call_cancel(struct kube_call *call);

/* Append "name=value" to a query in the arena; a NULL or empty value leaves it as it is. */
char *kube_query_add(struct arena *arena, char *query, const char *name, const char *value);

/* The headers every request has. */
struct http_header *kube_client_headers(struct kube_client *client, struct arena *arena,
                                        const char *accept, const char *content_type);

/* Stop without a word; the watch frees itself as soon as nobody is inside it. */
void kube_client_stop_watches(struct kube_client *client);
void kube_client_forget_events(struct kube_client *client);

#endif
