/* Keeps a local copy of a resource; see informer.h. An informer lists, watches from the list's
 * resourceVersion, and watches again when the watch ends. It lists again if the watch history has
 * expired or the watch failed with any other error than a broken connection. After a failed attempt
 * it waits for a backoff that doubles and has a random part.
 *
 * Objects are also kept in a vector, whose order depends only on the sequence of changes, so
 * that every run of a simulation visits them in the same order. The changes of a list are
 * reported after the whole list has been stored. */
#include "kube/client/informer.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/state_machine.h"
#include "base/str.h"
#include "base/vec.h"
#include "kube/client/client_internal.h"
#include "kube/object.h"
#include "kube/patch/projection.h"

#include <stdio.h>

enum {
    WAIT_FIRST_MS = 200,
    WAIT_MAX_MS = 30 * 1000,
    KEY_MAX = 384,
    LIST_LIMIT = 250,      /* objects per page */
    WATCH_SHORT_MS = 1000, /* a watch that ends sooner without an event counts as failed */
};

/* ---- The copy ---- */

enum state { LISTING, WATCHING, WAITING };

static const struct state_row STATES[] = {
    [LISTING] = {"listing", STATE_BIT(WATCHING) | STATE_BIT(WAITING), true},
    [WATCHING] = {"watching", STATE_BIT(LISTING) | STATE_BIT(WAITING), true},
    [WAITING] = {"waiting", STATE_BIT(LISTING) | STATE_BIT(WATCHING), true},
};

/* An object of the copy. */
struct slot {
    struct kube_object *object;
    size_t position;      /* position in the informer's vector */
    uint64_t list_number; /* number of the newest list when the object was last received */
};

struct change {
    struct kube_object *old, *new_;
};

struct kube_informer {
    struct kube_client *client;
    const struct kube_resource *resource;
    char *namespace_, *label_selector, *field_selector;
    const char *const *fields; /* the fields to keep; NULL: all */
    kube_informer_change *change;
    void *context;

    struct state_machine machine;
    struct kube_call *list_call; /* the running list call, or NULL */
    struct kube_watch *watch;    /* the running watch, or NULL */
    char *resource_version;      /* the version to watch from; NULL: list first */
    int64_t watch_start_ms;      /* loop time */
    bool watch_got_event;        /* the watch has received an event */
    int failures;                /* failed attempts in a row */
    struct err failure;          /* error of the newest list; code 0: none */
    struct loop_timer retry;
    uint64_t list_number; /* number of the newest list; the first list is 1 */
    bool synced;

    struct map slots; /* objects by "namespace/name" */
    struct kube_object_families families;
    VEC(struct slot *) sequence; /* all slots */
    VEC(struct change) changes;  /* changes that were made but not reported yet */
    bool reporting;              /* a callback runs */
    bool freed;                  /* a callback freed the informer */
};

static void start_list(struct kube_informer *informer);
static void list_page(struct kube_informer *informer, const char *continue_);
static void start_watch(struct kube_informer *informer);

/* Writes "namespace/name". Returns false if it does not fit. Names that Kubernetes allows (63 and
 * 253 bytes) always fit. */
static bool make_key(char key[KEY_MAX], const char *namespace_, const char *name)
{
    int size = snprintf(key, KEY_MAX, "%s/%s", namespace_ ? namespace_ : "", name);
    return size > 0 && size < KEY_MAX;
}

/* Adds a change to `changes`; report_changes() reports it later. */
static void note_change(struct kube_informer *informer, struct kube_object *old,
                        struct kube_object *new_)
{
    struct change change = {old ? kube_object_ref(old) : NULL, new_ ? kube_object_ref(new_) : NULL};
    vec_push(&informer->changes, change);
}

static void slot_remove(struct kube_informer *informer, struct slot *slot)
{
    char key[KEY_MAX];
    make_key(key, slot->object->namespace_, slot->object->name);
    map_remove(&informer->slots, key);
    struct slot *last = informer->sequence.items[--informer->sequence.count];
    informer->sequence.items[slot->position] = last;
    last->position = slot->position;
    kube_object_unref(slot->object);
    free(slot);
}

/* Returns a copy of the object with only the fields to keep and its identity. */
static struct json *pick_fields(struct arena *arena, const struct json *json,
                                const char *const *fields)
{
    static const char *const identity[] = {"name", "namespace", "uid", "resourceVersion"};
    struct json *object = kube_project_fields(arena, json, fields);
    struct json *metadata = json_ensure_object(arena, object, "metadata");
    for (size_t i = 0; i < ARRAY_SIZE(identity); i++) {
        const char *text = json_get_string(json_get(json, "metadata"), identity[i], NULL);
        if (text)
            json_set_string(arena, metadata, identity[i], text);
    }
    return object;
}

/* Returns whether apiVersion and kind are kept. */
static bool wants_kind(const char *const *fields)
{
    for (; fields && *fields; fields++)
        if (str_eq(*fields, "kind"))
            return true;
    return !fields;
}

/* Copies the tree with the fields to keep, without managedFields. Adds apiVersion and kind, because
 * items of a list do not have them. */
static struct kube_object *make_object(struct kube_informer *informer, struct json *json)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *metadata = json_get(json, "metadata");
    if (metadata && metadata->type == JSON_OBJECT)
        json_remove(metadata, "managedFields"); /* not used, and often half of the object */
    struct json *object =
        informer->fields ? pick_fields(arena, json, informer->fields) : json_clone(arena, json);
    if (wants_kind(informer->fields))
        kube_object_set_kind(arena, object, informer->resource);
    return kube_object_families_add(&informer->families, object);
}

/* Stores an object from the server. If the stored object of this name has another uid, it is a
 * different object and is reported as deleted first. `arena`, if not NULL, contains only this tree;
 * the informer frees it. */
static void put_object(struct kube_informer *informer, struct json *json, struct arena *arena)
{
    _cleanup_(cleanup_arena) struct arena *alone = arena;
    char key[KEY_MAX];
    if (!make_key(key, kube_meta_namespace(json), kube_meta_name(json)))
        return;
    struct slot *slot = map_get(&informer->slots, key);
    if (slot) {
        slot->list_number = informer->list_number;
        if (str_eq(kube_meta_resource_version(slot->object->json),
                   kube_meta_resource_version(json)) &&
            str_eq(slot->object->uid, kube_meta_uid(json)))
            return;
    }
    struct kube_object *object;
    if (alone && !informer->fields) {
        kube_object_set_kind(alone, json, informer->resource);
        object = kube_object_adopt(TAKE(alone), json);
    } else {
        object = make_object(informer, json);
    }
    if (!slot) {
        slot = mem_zalloc(sizeof(*slot));
        slot->list_number = informer->list_number;
        slot->position = informer->sequence.count;
        vec_push(&informer->sequence, slot);
        map_put(&informer->slots, key, slot);
        note_change(informer, NULL, object);
    } else if (str_eq(slot->object->uid, object->uid)) {
        note_change(informer, slot->object, object);
    } else {
        note_change(informer, slot->object, NULL);
        note_change(informer, NULL, object);
    }
    kube_object_unref(slot->object);
    slot->object = object;
}

static void informer_remove_object(struct kube_informer *informer, const struct json *json)
{
    char key[KEY_MAX];
    struct slot *slot = make_key(key, kube_meta_namespace(json), kube_meta_name(json))
                            ? map_get(&informer->slots, key)
                            : NULL;
    if (!slot)
        return;
    note_change(informer, slot->object, NULL);
    slot_remove(informer, slot);
}

static void informer_release(struct kube_informer *informer)
{
    for (size_t i = 0; i < informer->changes.count; i++) {
        kube_object_unref(informer->changes.items[i].old);
        kube_object_unref(informer->changes.items[i].new_);
    }
    while (informer->sequence.count)
        slot_remove(informer, informer->sequence.items[informer->sequence.count - 1]);
    vec_release(&informer->changes);
    vec_release(&informer->sequence);
    map_release(&informer->slots);
    kube_object_families_release(&informer->families);
    state_machine_release(&informer->machine);
    free(informer->namespace_);
    free(informer->label_selector);
    free(informer->field_selector);
    free(informer->resource_version);
    free(informer);
}

/* Reports all changes in `changes`. Returns false if a callback freed the informer. */
static bool report_changes(struct kube_informer *informer)
{
    informer->reporting = true;
    for (size_t i = 0; i < informer->changes.count && !informer->freed; i++) {
        struct change *change = &informer->changes.items[i];
        informer->change(informer->context, change->old, change->new_);
        bool is_gone = !change->new_;
        kube_object_unref(change->old);
        kube_object_unref(change->new_);
        *change = (struct change){0};
        if (is_gone)
            kube_object_families_drop_unused(&informer->families);
    }
    informer->reporting = false;
    if (informer->freed) {
        informer_release(informer);
        return false;
    }
    informer->changes.count = 0;
    return true;
}

/* ---- List and watch ---- */

static void set_resource_version(struct kube_informer *informer, const char *version)
{
    free(informer->resource_version);
    informer->resource_version = version ? mem_strdup(version) : NULL;
}

/* Schedules the next attempt after a backoff that doubles; half of the backoff is random. */
static void wait_and_retry(struct kube_informer *informer)
{
    int64_t wait_ms = WAIT_FIRST_MS;
    for (int i = 0; i < informer->failures && wait_ms < WAIT_MAX_MS; i++)
        wait_ms *= 2;
    if (wait_ms > WAIT_MAX_MS)
        wait_ms = WAIT_MAX_MS;
    informer->failures++;
    uint64_t spread = rand_below(&informer->client->rand, (uint64_t)wait_ms / 2 + 1);
    state_machine_move(&informer->machine, WAITING);
    loop_timer_start(&informer->retry, wait_ms / 2 + (int64_t)spread);
}

static void on_informer_retry(struct loop_timer *timer)
{
    struct kube_informer *informer = CONTAINER_OF(timer, struct kube_informer, retry);
    if (informer->resource_version)
        start_watch(informer);
    else
        start_list(informer);
}

static void on_informer_event(void *context, const char *type, struct json *object)
{
    struct kube_informer *informer = context;
    informer->watch_got_event = true;
    const char *version = kube_meta_resource_version(object);
    if (*version)
        set_resource_version(informer, version);
    if (str_eq(type, "BOOKMARK"))
        return;
    if (str_eq(type, "DELETED"))
        informer_remove_object(informer, object);
    else
        put_object(informer, object, kube_watch_take_arena(informer->watch));
    report_changes(informer);
}

/* Returns whether a watch can resume from the known resourceVersion: after a normal end, and after
 * a broken connection. */
static bool may_resume(const struct err *err)
{
    return !err || err->code == ERR_UNAVAILABLE || err->code == ERR_TIMEOUT ||
           err->code == ERR_IO || err->code == ERR_CANCELED;
}

static void on_watch_end(void *context, const struct err *err)
{
    struct kube_informer *informer = context;
    int64_t lasted_ms = loop_now_ms(informer->client->loop) - informer->watch_start_ms;
    bool worked = informer->watch_got_event || (!err && lasted_ms >= WATCH_SHORT_MS);
    informer->watch = NULL;
    if (!may_resume(err))
        set_resource_version(informer, NULL);
    if (worked)
        informer->failures = 0;
    if (worked && !err)
        start_watch(informer);
    else if (worked && err->code == ERR_EXPIRED)
        start_list(informer);
    else
        wait_and_retry(informer);
}

static void start_watch(struct kube_informer *informer)
{
    if (informer->machine.state != WATCHING)
        state_machine_move(&informer->machine, WATCHING);
    informer->watch_start_ms = loop_now_ms(informer->client->loop);
    informer->watch_got_event = false;
    informer->watch =
        kube_watch_start(informer->client, informer->resource, informer->namespace_,
                         informer->label_selector, informer->field_selector,
                         informer->resource_version, on_informer_event, on_watch_end, informer);
}

void kube_informer_resync(struct kube_informer *informer)
{
    int64_t lasted_ms = loop_now_ms(informer->client->loop) - informer->watch_start_ms;
    if (!informer->watch || lasted_ms < WATCH_SHORT_MS)
        return;
    kube_watch_stop(informer->watch);
    start_watch(informer);
}

/* Removes the objects that the newest list did not have. */
static void remove_unlisted(struct kube_informer *informer)
{
    for (size_t i = informer->sequence.count; i-- > 0;) {
        struct slot *slot = informer->sequence.items[i];
        if (slot->list_number == informer->list_number)
            continue;
        note_change(informer, slot->object, NULL);
        slot_remove(informer, slot);
    }
}

static void on_list(void *context, struct json *list, const struct err *err)
{
    struct kube_informer *informer = context;
    informer->list_call = NULL;
    const char *version = kube_meta_resource_version(list);
    informer->failure = err ? *err : ERR_INIT;
    if (err || *version == '\0') {
        wait_and_retry(informer);
        return;
    }
    JSON_EACH (item, json_get(list, "items"))
        if (item->type == JSON_OBJECT)
            put_object(informer, item, NULL);
    const char *more = json_get_string(json_get(list, "metadata"), "continue", "");
    if (*more) {
        list_page(informer, more);
        return;
    }
    remove_unlisted(informer);
    set_resource_version(informer, version);
    informer->synced = true;
    if (report_changes(informer))
        start_watch(informer);
}

/* Requests one page, so that the answer to a large list is never in memory as a whole. */
static void list_page(struct kube_informer *informer, const char *continue_)
{
    struct kube_list_page page = {.limit = LIST_LIMIT, .continue_ = continue_};
    informer->list_call = kube_call_list(informer->client, informer->resource, informer->namespace_,
                                         informer->label_selector, informer->field_selector, &page,
                                         on_list, informer);
}

static void start_list(struct kube_informer *informer)
{
    informer->list_number++;
    if (informer->machine.state != LISTING)
        state_machine_move(&informer->machine, LISTING);
    list_page(informer, NULL);
}

void kube_informer_keep(struct kube_informer *informer, const char *const *fields)
{
    informer->fields = fields;
}

struct kube_informer *
kube_informer_new_of_fields(struct kube_client *client, const struct kube_resource *resource,
                            const char *namespace_, const char *label_selector,
                            const char *field_selector, kube_informer_change *change, void *context)
{
    struct kube_informer *informer = mem_zalloc(sizeof(*informer));
    informer->client = client;
    informer->resource = resource;
    informer->namespace_ = namespace_ ? mem_strdup(namespace_) : NULL;
    informer->label_selector = label_selector ? mem_strdup(label_selector) : NULL;
    informer->field_selector = field_selector ? mem_strdup(field_selector) : NULL;
    informer->change = change;
    informer->context = context;
    map_init(&informer->slots);
    state_machine_init(&informer->machine, "informer", STATES, ARRAY_SIZE(STATES), LISTING);
    loop_timer_init(client->loop, &informer->retry, on_informer_retry);
    start_list(informer);
    return informer;
}

struct kube_informer *kube_informer_new(struct kube_client *client,
                                        const struct kube_resource *resource,
                                        const char *namespace_, const char *label_selector,
                                        kube_informer_change *change, void *context)
{
    return kube_informer_new_of_fields(client, resource, namespace_, label_selector, NULL, change,
                                       context);
}

struct kube_informer *kube_informer_free(struct kube_informer *informer)
{
    if (!informer)
        return NULL;
    loop_timer_stop(&informer->retry);
    kube_watch_stop(informer->watch);
    informer->watch = NULL;
    if (informer->list_call)
        kube_call_cancel(informer->list_call);
    informer->list_call = NULL;
    informer->freed = true;
    if (!informer->reporting)
        informer_release(informer);
    return NULL;
}

bool kube_informer_synced(const struct kube_informer *informer)
{
    return informer->synced;
}

const struct err *kube_informer_failure(const struct kube_informer *informer)
{
    return informer->failure.code == ERR_NONE ? NULL : &informer->failure;
}

size_t kube_informer_count(const struct kube_informer *informer)
{
    return informer->sequence.count;
}

struct kube_object *kube_informer_get(struct kube_informer *informer, const char *namespace_,
                                      const char *name)
{
    char key[KEY_MAX];
    return make_key(key, namespace_, name) ? kube_informer_find(informer, key) : NULL;
}

struct kube_object *kube_informer_find(struct kube_informer *informer, const char *key)
{
    struct slot *slot = map_get(&informer->slots, key);
    return slot ? slot->object : NULL;
}

struct kube_object *kube_informer_next(struct kube_informer *informer, const char *namespace_,
                                       size_t *position)
{
    while (*position < informer->sequence.count) {
        struct kube_object *object = informer->sequence.items[(*position)++]->object;
        if (!namespace_ || str_eq(object->namespace_, namespace_))
            return object;
    }
    return NULL;
}
