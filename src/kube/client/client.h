/* Calls of the Kubernetes API over any HTTP transport. Objects are JSON trees. The Status object
 * that the server sends in place of a result becomes a struct err. A call (but not a watch) that
 * the server answers with 429 and Retry-After is repeated after that time (at most 60 s) plus a
 * random part, up to ten times. All calls are asynchronous and must be made on the loop thread,
 * which also runs the callbacks. */
#ifndef TRAINYARD_KUBE_CLIENT_CLIENT_H
#define TRAINYARD_KUBE_CLIENT_CLIENT_H

#include "base/json/json.h"
#include "kube/resource.h"
#include "loop/loop.h"
#include "net/http/http.h"

struct kube_client;

/* Makes a client; sends nothing. The transport must outlive the client. `agent` becomes the
 * User-Agent and the field manager, such as "trainyard-tfjob". */
struct kube_client *kube_client_new(struct loop *loop, struct http_transport *transport,
                                    const char *agent);
/* Sets the timeout of each request, except of lists and watches. The default is 30 s. */
void kube_client_set_timeout(struct kube_client *client, int64_t timeout_ms);
/* Cancels all calls and watches, and drops unwritten events. No callback runs afterwards. Returns
 * NULL. NULL-safe. */
struct kube_client *kube_client_free(struct kube_client *client);

/* Gets the result of a call. `object` is the server's answer, or NULL on error. It is valid until
 * the callback returns, so the callback clones what it keeps. `err` is NULL on success. */
typedef void kube_done(void *context, struct json *object, const struct err *err);

void kube_get(struct kube_client *client, const struct kube_resource *resource,
              const char *namespace_, const char *name, kube_done *done, void *context);
/* Lists objects; `done` gets the list object ({items: […]}). A selector may be NULL. namespace_
 * NULL: all namespaces. */
void kube_list(struct kube_client *client, const struct kube_resource *resource,
               const char *namespace_, const char *label_selector, const char *field_selector,
               kube_done *done, void *context);
/* kube_list_paged() is like kube_list(), but without selectors and with one page per call.
 * metadata.continue of the answer is the token of the next page; the last page has none. */
struct kube_list_page {
    int limit;             /* maximum number of objects per page */
    const char *continue_; /* metadata.continue of the previous page; NULL: the first page */
};
void kube_list_paged(struct kube_client *client, const struct kube_resource *resource,
                     const char *namespace_, const struct kube_list_page *page, kube_done *done,
                     void *context);
void kube_create(struct kube_client *client, const struct kube_resource *resource,
                 const char *namespace_, const struct json *object, kube_done *done, void *context);
/* Like kube_create(), but asks the server to answer with the metadata only. Older servers answer
 * with the whole object. `strict` asks the server to reject unknown fields instead of dropping
 * them; only Kubernetes 1.25 and newer does so. */
void kube_create_metadata_only(struct kube_client *client, const struct kube_resource *resource,
                               const char *namespace_, const struct json *object, bool strict,
                               kube_done *done, void *context);
void kube_update(struct kube_client *client, const struct kube_resource *resource,
                 const char *namespace_, const char *name, const struct json *object,
                 kube_done *done, void *context);
/* Updates the status subresource (PUT). */
void kube_update_status(struct kube_client *client, const struct kube_resource *resource,
                        const char *namespace_, const char *name, const struct json *object,
                        kube_done *done, void *context);
/* Applies a JSON merge patch. `subresource` is "status" or NULL. */
void kube_patch(struct kube_client *client, const struct kube_resource *resource,
                const char *namespace_, const char *name, const char *subresource,
                const struct json *merge_patch, kube_done *done, void *context);

/* Applies a strategic merge patch to a built-in type: lists are merged by their keys, so that list
 * entries that the patch does not contain stay. */
void kube_strategic_patch(struct kube_client *client, const struct kube_resource *resource,
                          const char *namespace_, const char *name, const struct json *patch,
                          kube_done *done, void *context);

/* `options` of kube_delete() may be NULL: grace_period_seconds -1, and the other members NULL. */
struct kube_delete_options {
    int64_t grace_period_seconds; /* -1: the object's own grace period */
    const char *propagation; /* "Background", "Foreground", "Orphan"; NULL: the server's default */
    const char *uid;         /* the object is deleted only if it has this uid; NULL: with any uid */
};
void kube_delete(struct kube_client *client, const struct kube_resource *resource,
                 const char *namespace_, const char *name,
                 const struct kube_delete_options *options, kube_done *done, void *context);

/* Starts to watch a collection from a resourceVersion. `event` gets ADDED, MODIFIED, DELETED and
 * BOOKMARK events. `end` runs once, and then the watch is freed. The `err` of `end` is NULL if the
 * server ended the watch normally or was silent for too long; its code is ERR_EXPIRED if the caller
 * must list again. kube_watch_stop() frees the watch, and neither callback runs afterwards.
 * kube_watch_stop() may be called from within `event`. NULL-safe. */
struct kube_watch;
/* An event of at least this many bytes is large. It is decoded on a pool thread, and later events
 * wait for it. Its object is in a separate arena and without metadata.managedFields. */
enum { KUBE_WATCH_LARGE = 256 * 1024 };
typedef void kube_watch_event(void *context, const char *type, struct json *object);
typedef void kube_watch_end(void *context, const struct err *err);
struct kube_watch *kube_watch_start(struct kube_client *client,
                                    const struct kube_resource *resource, const char *namespace_,
                                    const char *label_selector, const char *field_selector,
                                    const char *resource_version, kube_watch_event *event,
                                    kube_watch_end *end, void *context);
void kube_watch_stop(struct kube_watch *watch);
/* Returns the arena of the object of a large event, or NULL if the event is not large. Must be
 * called within `event`. The caller frees the arena. */
struct arena *kube_watch_take_arena(struct kube_watch *watch);

/* Records a core/v1 Event about an object. If this client recorded the same event before, the count
 * of that event is raised instead, some seconds later. Frequent events are combined or dropped
 * (event_budget.h). Returns at once; the write is asynchronous. A failed write is not repeated,
 * because nothing depends on events. */
void kube_event(struct kube_client *client, const struct json *about, const char *component,
                const char *type /* "Normal", "Warning" */, const char *reason, const char *format,
                ...) __attribute__((format(printf, 6, 7)));
/* Like kube_event(), but about a part of the object such as "spec.containers{name}"; "": the whole
 * object. */
void kube_event_at(struct kube_client *client, const struct json *about, const char *field_path,
                   const char *component, const char *type, const char *reason, const char *format,
                   ...) __attribute__((format(printf, 7, 8)));

#endif
