/* Typed calls on the Kubernetes API over any transport. Objects go in and out as JSON trees; a
 * failure comes as the error the server's Status stands for. A call that the server has no time for
 * (429 with Retry-After) is made again when it said, some times. Everything is asynchronous;
 * callbacks come from the loop. */
#ifndef TRAINYARD_KUBE_CLIENT_H
#define TRAINYARD_KUBE_CLIENT_H

#include "base/json/json.h"
#include "kube/resource.h"
#include "loop/loop.h"
#include "net/http/http.h"

struct kube_client;

/* The transport must outlive the client. `agent` is the User-Agent and field manager:
 * "trainyard-tfjob". */
struct kube_client *kube_client_new(struct loop *loop, struct http_transport *transport,
                                    const char *agent);
/* How long a call that is no list may take; 30 s unless said. */
void kube_client_set_timeout(struct kube_client *client, int64_t timeout_ms);
/* Cancels what is under way; no callback comes any more. */
struct kube_client *kube_client_free(struct kube_client *client);

/* `object` (NULL on error) lives in an arena of the call that ends when the callback returns: clone
 * what is kept. `err` is NULL on success. */
typedef void kube_done(void *context, struct json *object, const struct err *err);

void kube_get(struct kube_client *client, const struct kube_resource *resource,
              const char *namespace_, const char *name, kube_done *done, void *context);
/* The list object ({items: […]}). Selectors may be NULL; namespace_ NULL: all namespaces. */
void kube_list(struct kube_client *client, const struct kube_resource *resource,
               const char *namespace_, const char *label_selector, const char *field_selector,
               kube_done *done, void *context);
/* The same, a page at a time: metadata.continue of the answer names the next page, if there is one.
 */
struct kube_list_page {
    int limit;             /* at most so many objects */
    const char *continue_; /* where the page before ended; NULL: the first */
};
void kube_list_paged(struct kube_client *client, const struct kube_resource *resource,
                     const char *namespace_, const struct kube_list_page *page, kube_done *done,
                     void *context);
void kube_create(struct kube_client *client, const struct kube_resource *resource,
                 const char *namespace_, const struct json *object, kube_done *done, void *context);
/* Like kube_create(), but a server that can do so answers with the metadata alone. `strict`:
 * servers of Kubernetes 1.25 and newer refuse fields that they do not know, instead of dropping
 * them. */
void kube_create_metadata_only(struct kube_client *client, const struct kube_resource *resource,
                               const char *namespace_, const struct json *object, bool strict,
                               kube_done *done, void *context);
void kube_update(struct kube_client *client, const struct kube_resource *resource,
                 const char *namespace_, const char *name, const struct json *object,
                 kube_done *done, void *context);
/* PUT of the status subresource. */
void kube_update_status(struct kube_client *client, const struct kube_resource *resource,
                        const char *namespace_, const char *name, const struct json *object,
                        kube_done *done, void *context);
/* JSON merge patch; subresource "status" or NULL. */
void kube_patch(struct kube_client *client, const struct kube_resource *resource,
                const char *namespace_, const char *name, const char *subresource,
                const struct json *merge_patch, kube_done *done, void *context);

/* Strategic merge patch of a built-in type: lists are merged by their keys, so that entries which
 * the caller does not know of stay. */
void kube_strategic_patch(struct kube_client *client, const struct kube_resource *resource,
                          const char *namespace_, const char *name, const struct json *patch,
                          kube_done *done, void *context);

struct kube_delete_options {
    int64_t grace_period_seconds; /* -1: the object's own */
    const char *propagation;      /* "Background", "Foreground", "Orphan", or NULL */
    const char *uid;              /* precondition, or NULL */
};
void kube_delete(struct kube_client *client, const struct kube_resource *resource,
                 const char *namespace_, const char *name,
                 const struct kube_delete_options *options, kube_done *done, void *context);

/* A watch from a resourceVersion. `event` gets ADDED, MODIFIED, DELETED or BOOKMARK; `end` comes
 * once, with ERR_EXPIRED where the list must be read again and NULL where the server just ended it;
 * then the watch is gone. After kube_watch_stop() nothing comes, `end` neither. */
struct kube_watch;
/* An event of so many bytes or more is decoded on a thread of the pool, and events behind it wait
 * for it. Such an object comes without metadata.managedFields and lies alone in an arena. */
enum { KUBE_WATCH_LARGE = 256 * 1024 };
typedef void kube_watch_event(void *context, const char *type, struct json *object);
typedef void kube_watch_end(void *context, const struct err *err);
struct kube_watch *kube_watch_start(struct kube_client *client,
                                    const struct kube_resource *resource, const char *namespace_,
                                    const char *label_selector, const char *field_selector,
                                    const char *resource_version, kube_watch_event *event,
                                    kube_watch_end *end, void *context);
void kube_watch_stop(struct kube_watch *watch);
/* For `event`: take the arena of a large object, which is the caller's then; NULL: it is not large.
 */
struct arena *kube_watch_take_arena(struct kube_watch *watch);

/* Record a core/v1 Event about an object: made, or its count raised some seconds later if the same
 * one was recorded before by this client. Of many, some are combined or dropped, as
 * event_budget.h says; failures are dropped: events are news, not state. */
void kube_event(struct kube_client *client, const struct json *about, const char *component,
                const char *type /* "Normal", "Warning" */, const char *reason, const char *format,
                ...) __attribute__((format(printf, 6, 7)));
/* The same about a part of the object, "spec.containers{name}"; "": all of it. */
void kube_event_at(struct kube_client *client, const struct json *about, const char *field_path,
                   const char *component, const char *type, const char *reason, const char *format,
                   ...) __attribute__((format(printf, 7, 8)));

#endif
