/* An object of the API that many hold and nobody changes: an informer's copy, its listeners and
 * what they have under way. Whoever keeps one beyond a call takes a reference. One thread only. */
#ifndef TRAINYARD_KUBE_SHARED_OBJECT_H
#define TRAINYARD_KUBE_SHARED_OBJECT_H

#include "base/arena.h"
#include "base/json/json.h"

struct kube_object {
    int references;
    struct arena *arena;      /* holds the tree … */
    struct kube_object *base; /* … but for what it shares with this one, if not NULL */
    struct json *json;
    const char *namespace_; /* "" if cluster-wide */
    const char *name;
    const char *uid;
};

/* A deep copy. */
struct kube_object *kube_object_new(const struct json *json);
/* The tree itself, which lies alone in the arena: the object frees it. */
struct kube_object *kube_object_adopt(struct arena *arena, struct json *json);
struct kube_object *kube_object_ref(struct kube_object *object);
void kube_object_unref(struct kube_object *object);

/* Objects of one kind, of which families are much alike: the pods of a job. One of each is whole,
 * and the others share with it what is the same. A family is told by its names, which differ behind
 * the last dash, and by how much there is in the status: what runs is like what runs. Only so many
 * fit here; one that is taken for another shares less, or nothing. */
enum { KUBE_OBJECT_FAMILIES_MAX = 64 };
struct kube_object_families { /* starts zeroed */
    struct kube_object *bases[KUBE_OBJECT_FAMILIES_MAX];
};
void kube_object_families_release(struct kube_object_families *siblings);

/* A deep copy, or one that shares. */
struct kube_object *kube_object_families_add(struct kube_object_families *siblings,
                                             const struct json *json);
/* An object is gone: let go of what nobody else holds. */
void kube_object_families_drop_unused(struct kube_object_families *siblings);

#endif
