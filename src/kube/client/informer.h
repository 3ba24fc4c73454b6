/* Keeps a local copy of one resource with list and watch. It lists again when the server's watch
 * history has expired, and retries with backoff when the server is unreachable. Objects are
 * immutable and reference-counted. They have no metadata.managedFields: no controller here needs
 * this field, and it is often half of the object. */
#ifndef TRAINYARD_KUBE_CLIENT_INFORMER_H
#define TRAINYARD_KUBE_CLIENT_INFORMER_H

#include "kube/client/client.h"
#include "kube/client/shared_object.h"

struct kube_informer;

/* Runs on the loop thread for each change. `old` is NULL for a new object, and `new_` is NULL for a
 * deleted object. The callback takes a reference to an object that it keeps. */
typedef void kube_informer_change(void *context, struct kube_object *old, struct kube_object *new_);

/* Makes an informer and starts its first list. namespace_ NULL: all namespaces. label_selector
 * NULL: all objects. `change` never runs from within this call. */
struct kube_informer *kube_informer_new(struct kube_client *client,
                                        const struct kube_resource *resource,
                                        const char *namespace_, const char *label_selector,
                                        kube_informer_change *change, void *context);
/* Like kube_informer_new(), but only for objects that match the field selector ("spec.nodeName!=").
 */
struct kube_informer *kube_informer_new_of_fields(struct kube_client *client,
                                                  const struct kube_resource *resource,
                                                  const char *namespace_,
                                                  const char *label_selector,
                                                  const char *field_selector,
                                                  kube_informer_change *change, void *context);
/* Keeps only these fields of each object, and its name, namespace, uid and resourceVersion. "kind"
 * keeps apiVersion too. `change` does not see other fields. Must be called right after the informer
 * was created. The list of fields ends with NULL and must outlive the informer. */
void kube_informer_keep(struct kube_informer *informer, const char *const *fields);
/* Must be called before the client is freed. May be called from within `change`. `change` does not
 * run afterwards. Returns NULL. NULL-safe. */
struct kube_informer *kube_informer_free(struct kube_informer *informer);

/* Restarts the watch at the newest known resourceVersion. Used if an expected change has not
 * arrived. Does nothing if no watch runs or if the watch is younger than one second. */
void kube_informer_resync(struct kube_informer *informer);

/* Returns whether the first list is complete. */
bool kube_informer_synced(const struct kube_informer *informer);
/* Returns the error of the newest list; NULL if it succeeded or none has ended yet. The informer
 * retries after an error. */
const struct err *kube_informer_failure(const struct kube_informer *informer);

/* Returns the number of objects. */
size_t kube_informer_count(const struct kube_informer *informer);

/* Returns a borrowed reference, or NULL if there is no such object. */
struct kube_object *kube_informer_get(struct kube_informer *informer, const char *namespace_,
                                      const char *name);

/* Like kube_informer_get(), by the key "namespace/name" of a work queue. */
struct kube_object *kube_informer_find(struct kube_informer *informer, const char *key);

/* Returns the next object of a namespace (NULL: of all namespaces), in no particular order. Start
 * with *position = 0. Returns NULL at the end. */
struct kube_object *kube_informer_next(struct kube_informer *informer, const char *namespace_,
                                       size_t *position);

#endif
