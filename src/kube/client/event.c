/* Records core/v1 Events; see client.h. A repeated event raises the count of the first one.
 * Repetitions are written together, some seconds later or when the budget (event_budget.h) allows
 * it, so that many repetitions cause few requests. New events wait in a queue, and one is written
 * at a time, so that the controller's own calls come first. */
#include "base/hash.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/client/client_internal.h"
#include "kube/object.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    EVENTS_KEPT = 1024,    /* events kept for counting; the oldest are dropped */
    MESSAGE_MAX = 1024,    /* bytes that the API allows */
    NAME_BASE_MAX = 236,   /* bytes of the object's name in the event's name: 253 less ".%016x" */
    COUNT_DELAY_MS = 5000, /* from a repetition to the write of the new count */
    /* New events that are written at the same time. More would delay the controller's calls. */
    UNDER_WAY_MAX = 1,
    QUEUE_MAX = 512, /* queued events; further events are dropped */
    /* The same limit for an event that is a warning or the first of its reason. */
    QUEUE_IMPORTANT_MAX = 4096,
};

/* The content of an event: reporting component, object, reason and message. */
struct content {
    const char *api_version, *kind, *namespace_, *name, *uid, *resource_version, *field_path;
    const char *component, *type, *reason, *message;
    bool combined; /* several messages share this event, which shows the newest message */
};

/* An event that was recorded. Its Event object exists, is being written, or is queued. */
struct kube_event_entry {
    struct kube_client *client;
    struct list_link link; /* in kube_client.events_by_age */
    struct arena *arena;   /* holds the texts of `content` and the name */
    struct content content;
    const char *name; /* the name of the Event object */
    /* The newest of the combined messages; NULL: the message in `content`. */
    char *newest_message;
    int64_t first_ms;                     /* wall time of the first occurrence */
    int64_t last_ms;                      /* wall time of the newest occurrence */
    int64_t count;                        /* how often the event happened */
    int64_t written_count;                /* the count that was last sent to the server */
    bool under_way;                       /* being written, or queued */
    struct kube_event_entry *next_queued; /* the next entry in the queue */
    struct loop_timer timer;              /* expires when the count is to be written */
};

/* Returns a short key for a long text, because thousands of events are kept. Two texts have the
 * same key with probability 2^-64. The hash has a random key, so that an attacker cannot choose two
 * such texts. */
static const char *event_digest(struct arena *arena, const struct kube_client *client,
                                const char *text)
{
    return arena_printf(arena, "%016" PRIx64, hash_bytes(&client->event_key, text, strlen(text)));
}

/* Returns the key of the event's budget, which is per object and reporting component. */
static const char *budget_object(struct arena *arena, const struct kube_client *client,
                                 const struct content *content)
{
    return event_digest(arena, client,
                        arena_printf(arena, "%s/%s/%s\n%s", content->namespace_, content->name,
                                     content->uid, content->component));
}

/* Returns the name of the reason within the budget of its object. */
static const char *budget_reason(struct arena *arena, const struct content *content)
{
    return arena_printf(arena, "%s\n%s", content->type, content->reason);
}

/* Returns the key of the event in kube_client.events. Equal events have equal keys. */
static const char *content_key(struct arena *arena, const struct kube_client *client,
                               const struct content *content)
{
    return event_digest(arena, client,
                        arena_printf(arena, "%s\n%s\n%s\n%s", budget_object(arena, client, content),
                                     content->field_path, budget_reason(arena, content),
                                     content->combined ? "\ncombined" : content->message));
}

static void event_entry_free(struct kube_event_entry *entry)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_client *client = entry->client;
    list_remove(&entry->link);
    map_remove(&client->events, content_key(arena, client, &entry->content));
    loop_timer_stop(&entry->timer);
    arena_free(entry->arena);
    free(entry->newest_message);
    free(entry);
}

void kube_client_forget_events(struct kube_client *client)
{
    LIST_EACH_SAFE (struct kube_event_entry, entry, &client->events_by_age, link)
        event_entry_free(entry);
    client->first_queued = client->last_queued = NULL;
}

/* Makes room for one more event. Entries that are being written or queued stay, so there may be
 * more than EVENTS_KEPT for a while. The loop ends at the first queued entry, because all newer
 * entries are queued, too. */
static void forget_oldest(struct kube_client *client)
{
    LIST_EACH_SAFE (struct kube_event_entry, entry, &client->events_by_age, link) {
        if (entry == client->first_queued || client->events.count < EVENTS_KEPT)
            break;
        if (!entry->under_way)
            event_entry_free(entry);
    }
}

static const char *message_of(const struct kube_event_entry *entry)
{
    return entry->newest_message ? entry->newest_message : entry->content.message;
}

/* An event has a namespace even if its object has none. */
static const char *namespace_of(const struct kube_event_entry *entry)
{
    return *entry->content.namespace_ ? entry->content.namespace_ : "default";
}

static struct json *make_event(struct arena *arena, const struct kube_event_entry *entry)
{
    const struct content *content = &entry->content;
    char first[MOMENT_TEXT_MAX], last[MOMENT_TEXT_MAX];
    moment_format(entry->first_ms, first);
    moment_format(entry->last_ms, last);
    struct json *event = kube_object_make(arena, &KUBE_EVENTS, namespace_of(entry), entry->name);
    struct json *reference = json_ensure_object(arena, event, "involvedObject");
    const struct {
        const char *name, *text;
    } FIELDS[] = {
        {"apiVersion", content->api_version},
        {"kind", content->kind},
        {"namespace", content->namespace_},
        {"name", content->name},
        {"uid", content->uid},
        {"resourceVersion", content->resource_version},
        {"fieldPath", content->field_path},
    };
    for (size_t i = 0; i < ARRAY_SIZE(FIELDS); i++)
        if (*FIELDS[i].text)
            json_set_string(arena, reference, FIELDS[i].name, FIELDS[i].text);
    json_set_string(arena, event, "reason", content->reason);
    json_set_string(arena, event, "message", message_of(entry));
    json_set_string(arena, json_ensure_object(arena, event, "source"), "component",
                    content->component);
    json_set_string(arena, event, "firstTimestamp", first);
    json_set_string(arena, event, "lastTimestamp", last);
    json_set_int(arena, event, "count", entry->count);
    json_set_string(arena, event, "type", content->type);
    json_set_string(arena, event, "reportingComponent", content->component);
    json_set_string(arena, event, "reportingInstance", "");
    return event;
}

static void send_next(struct kube_client *client);

/* Called when a write of the entry has ended. May free the entry. */
static void event_entry_end_write(struct kube_event_entry *entry, const struct err *err)
{
    entry->under_way = false;
    /* If the event was not created or has expired, its next repetition creates a new one. */
    if (err)
        event_entry_free(entry);
    else if (entry->count > entry->written_count)
        loop_timer_start(&entry->timer, COUNT_DELAY_MS);
}

static void on_event_created(void *context, struct json *object, const struct err *err)
{
    struct kube_event_entry *entry = context;
    struct kube_client *client = entry->client;
    client->events_under_way--;
    event_entry_end_write(entry, err);
    send_next(client);
}

static void event_entry_send(struct kube_event_entry *entry)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    entry->written_count = entry->count;
    kube_create(entry->client, &KUBE_EVENTS, namespace_of(entry), make_event(arena, entry),
                on_event_created, entry);
}

static void send_next(struct kube_client *client)
{
    while (client->first_queued && client->events_under_way < UNDER_WAY_MAX) {
        struct kube_event_entry *entry = client->first_queued;
        client->first_queued = entry->next_queued;
        if (!client->first_queued)
            client->last_queued = NULL;
        client->queue_length--;
        client->events_under_way++;
        event_entry_send(entry);
    }
}

static void event_enqueue(struct kube_event_entry *entry)
{
    struct kube_client *client = entry->client;
    entry->under_way = true;
    if (client->last_queued)
        client->last_queued->next_queued = entry;
    else
        client->first_queued = entry;
    client->last_queued = entry;
    client->queue_length++;
    send_next(client);
}

static void on_event_written(void *context, struct json *object, const struct err *err)
{
    event_entry_end_write(context, err);
}

/* Writes the count and the time of the newest repetition to the Event object. */
static void write_count(struct kube_event_entry *entry)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char last[MOMENT_TEXT_MAX];
    moment_format(entry->last_ms, last);
    struct json *patch = json_object(arena);
    json_set_int(arena, patch, "count", entry->count);
    json_set_string(arena, patch, "lastTimestamp", last);
    if (entry->content.combined)
        json_set_string(arena, patch, "message", message_of(entry));
    entry->written_count = entry->count;
    entry->under_way = true;
    kube_patch(entry->client, &KUBE_EVENTS, namespace_of(entry), entry->name, NULL, patch,
               on_event_written, entry);
}

static void on_event_timer(struct loop_timer *timer)
{
    struct kube_event_entry *entry = CONTAINER_OF(timer, struct kube_event_entry, timer);
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_client *client = entry->client;
    int64_t wait_ms =
        kube_event_budget_take(&client->event_budget, budget_object(arena, client, &entry->content),
                               budget_reason(arena, &entry->content), loop_now_ms(client->loop));
    if (wait_ms > 0)
        loop_timer_start(&entry->timer, wait_ms);
    else
        write_count(entry);
}

static void raise_count(struct kube_event_entry *entry)
{
    entry->count++;
    entry->last_ms = loop_wall_ms(entry->client->loop);
    if (!entry->under_way && !entry->timer.running)
        loop_timer_start(&entry->timer, COUNT_DELAY_MS);
}

/* Returns the number at the end of an event's name. Events are listed by name, so the number grows:
 * the names of the events of one object sort by time. The number consists of the time, the position
 * within the millisecond, and a random part. */
static unsigned long long event_number(struct kube_client *client)
{
    int64_t now = loop_wall_ms(client->loop);
    client->event_place = now == client->event_ms ? client->event_place + 1 : 0;
    client->event_ms = now;
    return (unsigned long long)now << 22 | (client->event_place & 63ULL) << 16 |
           (rand_next(&client->rand) & 0xffff);
}

/* Copies the texts of the content and the event's name into memory of exactly their size. */
static void copy_texts(struct kube_event_entry *entry, const struct content *content)
{
    const char **texts[] = {
        &entry->content.api_version, &entry->content.kind,       &entry->content.namespace_,
        &entry->content.name,        &entry->content.uid,        &entry->content.resource_version,
        &entry->content.component,   &entry->content.type,       &entry->content.reason,
        &entry->content.message,     &entry->content.field_path, &entry->name,
    };
    char name[NAME_BASE_MAX + 32];
    size_t size = 0;
    snprintf(name, sizeof(name), "%.*s.%016llx", (int)NAME_BASE_MAX, content->name,
             event_number(entry->client));
    entry->content = *content;
    entry->name = name;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        size += strlen(*texts[i]) + 1;
    entry->arena = arena_new_sized(size);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        *texts[i] = arena_strdup(entry->arena, *texts[i]);
}

static struct kube_event_entry *entry_new(struct kube_client *client, const char *key,
                                          const struct content *content)
{
    struct kube_event_entry *entry = mem_zalloc(sizeof(*entry));
    forget_oldest(client);
    entry->client = client;
    copy_texts(entry, content);
    entry->first_ms = entry->last_ms = loop_wall_ms(client->loop);
    entry->count = 1;
    loop_timer_init(client->loop, &entry->timer, on_event_timer);
    list_append(&client->events_by_age, &entry->link);
    map_put(&client->events, key, entry);
    return entry;
}

/* Shortens a message of more than MESSAGE_MAX bytes. Cuts at a character boundary, so that the text
 * stays valid UTF-8. */
static void cut_message(char *message)
{
    if (strlen(message) <= MESSAGE_MAX)
        return;
    static const char mark[] = "…";
    size_t size = MESSAGE_MAX + 1 - sizeof(mark);
    while (size && ((unsigned char)message[size] & 0xc0) == 0x80)
        size--;
    memcpy(message + size, mark, sizeof(mark));
}

/* Queues a new event, or drops it if the queue is full or the budget is used up. */
static void event_add_new(struct kube_client *client, const char *key, const char *object,
                          const char *reason, const struct content *content)
{
    bool important = str_eq(content->type, "Warning") ||
                     kube_event_budget_is_first(&client->event_budget, object, reason);
    if (client->queue_length >= (important ? QUEUE_IMPORTANT_MAX : QUEUE_MAX))
        return;
    if (kube_event_budget_take(&client->event_budget, object, reason, loop_now_ms(client->loop)))
        return;
    event_enqueue(entry_new(client, key, content));
}

static void event_record(struct kube_client *client, struct arena *arena, struct content *content)
{
    const char *object = budget_object(arena, client, content),
               *reason = budget_reason(arena, content);
    const char *key = content_key(arena, client, content);
    struct kube_event_entry *entry = map_get(&client->events, key);
    if (!entry && kube_event_budget_combines(&client->event_budget, object, reason,
                                             loop_now_ms(client->loop))) {
        char *message = arena_printf(arena, "(combined from similar events): %s", content->message);
        cut_message(message);
        content->message = message;
        content->combined = true;
        key = content_key(arena, client, content);
        entry = map_get(&client->events, key);
    }
    if (!entry) {
        event_add_new(client, key, object, reason, content);
        return;
    }
    if (content->combined) {
        free(entry->newest_message);
        entry->newest_message = mem_strdup(content->message);
    }
    raise_count(entry);
}

__attribute__((format(printf, 7, 0))) static void
event_record_text(struct kube_client *client, const struct json *about, const char *field_path,
                  const char *component, const char *type, const char *reason, const char *format,
                  va_list args)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char *message = arena_vprintf(arena, format, args);
    cut_message(message);
    struct content content = {
        .api_version = json_get_string(about, "apiVersion", ""),
        .kind = json_get_string(about, "kind", ""),
        .namespace_ = kube_meta_namespace(about),
        .name = kube_meta_name(about),
        .uid = kube_meta_uid(about),
        .resource_version = kube_meta_resource_version(about),
        .field_path = field_path,
        .component = component,
        .type = type,
        .reason = reason,
        .message = message,
    };
    event_record(client, arena, &content);
}

void kube_event(struct kube_client *client, const struct json *about, const char *component,
                const char *type, const char *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    event_record_text(client, about, "", component, type, reason, format, args);
    va_end(args);
}

void kube_event_at(struct kube_client *client, const struct json *about, const char *field_path,
                   const char *component, const char *type, const char *reason, const char *format,
                   ...)
{
    va_list args;
    va_start(args, format);
    event_record_text(client, about, field_path, component, type, reason, format, args);
    va_end(args);
}
