/* An object of the API that many hold and nobody changes: an informer's copy, its listeners and
 * what they have under way. Whoever keeps one beyond a call takes a reference. One thread only. */
#ifndef TRAINYARD_KUBE_SHARED_OBJECT_H
#define TRAINYARD_KUBE_SHARED_OBJECT_H

#include "base/arena.h"
#include "base/json.h"
#include "base/words.h"

struct kube_object {
    int references;
    struct arena *arena; /* holds the tree … */
    struct words *words; /* … but for the names of its members, if not NULL */
    struct json *json;
    const char *namespace_; /* "" if cluster-wide */
    const char *name;
    const char *uid;
};

/* A deep copy. `words`: shared with other objects of the kind; may be NULL. */
struct kube_object *kube_object_new(const struct json *json, struct words *words);
struct kube_object *kube_object_ref(struct kube_object *object);
void kube_object_unref(struct kube_object *object);

#endif
