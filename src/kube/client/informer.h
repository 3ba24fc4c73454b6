/* A local copy of one resource kept true by list and watch: read again when history is gone, tried
 * again with back-off when the server is away. Objects are immutable and refcounted, and without
 * metadata.managedFields: nobody here decides on them, and they are half of many an object. */
#ifndef TRAINYARD_KUBE_INFORMER_H
#define TRAINYARD_KUBE_INFORMER_H

#include "kube/client/client.h"
#include "kube/client/shared_object.h"

struct kube_informer;

/* `old` is NULL for a new object, `new_` for one that is gone. Called from the loop. */
typedef void kube_informer_change(void *context, struct kube_object *old, struct kube_object *new_);

struct kube_informer *kube_informer_new(struct kube_client *client,
                                        const struct kube_resource *resource,
                                        const char *namespace_, const char *label_selector,
                                        kube_informer_change *change, void *context);
/* The same of those objects only whose fields are so ("spec.nodeName!="). */
struct kube_informer *kube_informer_new_of_fields(struct kube_client *client,
                                                  const struct kube_resource *resource,
                                                  const char *namespace_,
                                                  const char *label_selector,
                                                  const char *field_selector,
                                                  kube_informer_change *change, void *context);
/* Keep only these fields of each object, and what makes it an object: its name, namespace, uid and
 * resourceVersion. Listeners see no others; "kind" stands for apiVersion too. Called right after it
 * was made; the list ends with NULL and must outlive the informer. */
void kube_informer_keep(struct kube_informer *informer, const char *const *fields);
/* Before its client is freed. May be called from within `change`. */
struct kube_informer *kube_informer_free(struct kube_informer *informer);

/* Something should have been shown and was not: begin the watch anew from where it stands, unless
 * that was done just now. */
void kube_informer_resync(struct kube_informer *informer);

bool kube_informer_synced(const struct kube_informer *informer); /* the first list has arrived */
/* What the last list failed with; NULL where it did not. It is tried again all the same. */
const struct err *kube_informer_failure(const struct kube_informer *informer);

size_t kube_informer_count(const struct kube_informer *informer);

/* A borrowed reference, or NULL. */
struct kube_object *kube_informer_get(struct kube_informer *informer, const char *namespace_,
                                      const char *name);

/* … by its key in a queue, "namespace/name". */
struct kube_object *kube_informer_find(struct kube_informer *informer, const char *key);

/* Visit all, of one namespace or NULL for every, in no order: start with *position = 0. */
struct kube_object *kube_informer_next(struct kube_informer *informer, const char *namespace_,
                                       size_t *position);

#endif
