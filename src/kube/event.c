/* Recording core/v1 Events; see client.h. The same news again raises the count of the event that
 * told it first. Repetitions are written some seconds after they happened, or when the budget
 * (event_budget.h) allows it, all of them at once: so no flood of news becomes a flood of
 * requests. New events stand in line, and few are under way at a time: what a controller does goes
 * before what it tells. */
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/client_internal.h"
#include "kube/object.h"

#include <stdio.h>
#include <string.h>

enum {
    EVENTS_KEPT = 1024,  /* remembered for counting; the oldest are forgotten */
    MESSAGE_MAX = 1024,  /* bytes that the API allows */
    NAME_BASE_MAX = 236, /* of the object's name in the event's: 253 less ".%016x" */
    COUNT_DELAY_MS = 5000,
    UNDER_WAY_MAX = 4,         /* new events */
    LINE_MAX = 512,            /* waiting; further ones are dropped … */
    LINE_IMPORTANT_MAX = 4096, /* … unless they are warnings or the first of their reason */
};

struct kube_event_entry {
    struct kube_client *client;
    struct kube_event_entry *next, *previous; /* by age */
    char *key;
    char *object, *reason; /* of the budget */
    char *namespace_;
    char *name;
    char *message;         /* the last one, of an event that combines several; else NULL */
    int64_t count;         /* how often it happened */
    int64_t written_count; /* of which the server knows, or is being told */
    bool under_way;        /* being written, or in line for it */
    char *draft;           /* of an event in line, as JSON: there may be many; else NULL */
    struct kube_event_entry *behind; /* in line */
    struct loop_timer timer;         /* until the count is written */
};

static void entry_free(struct kube_event_entry *entry)
{
    struct kube_client *client = entry->client;
    if (entry->previous)
        entry->previous->next = entry->next;
    else
        client->oldest_event = entry->next;
    if (entry->next)
        entry->next->previous = entry->previous;
    else
        client->newest_event = entry->previous;
    map_remove(&client->events, entry->key);
    loop_timer_stop(&entry->timer);
    free(entry->draft);
    free(entry->key);
    free(entry->object);
    free(entry->reason);
    free(entry->message);
    free(entry->namespace_);
    free(entry->name);
    free(entry);
}

void kube_client_forget_events(struct kube_client *client)
{
    for (struct kube_event_entry *entry = client->oldest_event, *next; entry; entry = next) {
        next = entry->next;
        entry_free(entry);
    }
    client->first_in_line = client->last_in_line = NULL;
}

/* Room for one more. Who is written, or stands in line for it, stays: then there are more for a
 * while. */
static void forget_oldest(struct kube_client *client)
{
    struct kube_event_entry *entry = client->oldest_event, *next;
    for (; entry && client->events.count >= EVENTS_KEPT; entry = next) {
        next = entry->next;
        if (!entry->under_way)
            entry_free(entry);
    }
}

static void now_text(struct kube_client *client, char text[MOMENT_TEXT_MAX])
{
    moment_format(loop_wall_ms(client->loop), text);
}

static void send_next(struct kube_client *client);

static void settle(struct kube_event_entry *entry, const struct err *err)
{
    entry->under_way = false;
    /* Not made, or gone since (events expire): the next time makes a new one. */
    if (err)
        entry_free(entry);
    else if (entry->count > entry->written_count)
        loop_timer_start(&entry->timer, COUNT_DELAY_MS);
}

static void on_made(void *context, struct json *object, const struct err *err)
{
    struct kube_event_entry *entry = context;
    struct kube_client *client = entry->client;
    client->events_under_way--;
    settle(entry, err);
    send_next(client);
}

/* The draft as it was, with the count as it is now. */
static void send_draft(struct kube_event_entry *entry)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_free_ char *draft = TAKE(entry->draft);
    struct json *event = NULL;
    struct err err = ERR_INIT;
    if (json_parse(arena, draft, strlen(draft), NULL, &event, &err) < 0)
        mem_panic("event '%s': our own draft cannot be read: %s", entry->name, err.message);
    json_set_int(arena, event, "count", entry->count);
    entry->written_count = entry->count;
    kube_create(entry->client, &KUBE_EVENTS, entry->namespace_, event, on_made, entry);
}

static void send_next(struct kube_client *client)
{
    while (client->first_in_line && client->events_under_way < UNDER_WAY_MAX) {
        struct kube_event_entry *entry = client->first_in_line;
        client->first_in_line = entry->behind;
        if (!client->first_in_line)
            client->last_in_line = NULL;
        client->line_length--;
        client->events_under_way++;
        send_draft(entry);
    }
}

static void stand_in_line(struct kube_event_entry *entry)
{
    struct kube_client *client = entry->client;
    entry->under_way = true;
    if (client->last_in_line)
        client->last_in_line->behind = entry;
    else
        client->first_in_line = entry;
    client->last_in_line = entry;
    client->line_length++;
    send_next(client);
}

static void on_written(void *context, struct json *object, const struct err *err)
{
    settle(context, err);
}

static void write_count(struct kube_event_entry *entry)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char now[MOMENT_TEXT_MAX];
    now_text(entry->client, now);
    struct json *patch = json_object(arena);
    json_set_int(arena, patch, "count", entry->count);
    json_set_string(arena, patch, "lastTimestamp", now);
    if (entry->message)
        json_set_string(arena, patch, "message", entry->message);
    entry->written_count = entry->count;
    entry->under_way = true;
    kube_patch(entry->client, &KUBE_EVENTS, entry->namespace_, entry->name, NULL, patch, on_written,
               entry);
}

static void on_timer(struct loop_timer *timer)
{
    struct kube_event_entry *entry = CONTAINER_OF(timer, struct kube_event_entry, timer);
    struct kube_client *client = entry->client;
    int64_t wait_ms = kube_event_budget_take(&client->event_budget, entry->object, entry->reason,
                                             loop_now_ms(client->loop));
    if (wait_ms > 0)
        loop_timer_start(&entry->timer, wait_ms);
    else
        write_count(entry);
}

static void raise_count(struct kube_event_entry *entry)
{
    entry->count++;
    if (!entry->under_way && !entry->timer.running)
        loop_timer_start(&entry->timer, COUNT_DELAY_MS);
}

struct news {
    const struct json *about;
    const char *component, *type, *reason, *message;
};

static struct json *make_event(struct arena *arena, const struct kube_event_entry *entry,
                               const struct news *news)
{
    char now[MOMENT_TEXT_MAX];
    now_text(entry->client, now);
    const struct json *about = news->about;
    struct json *event = kube_object_make(arena, &KUBE_EVENTS, entry->namespace_, entry->name);
    struct json *reference = json_ensure_object(arena, event, "involvedObject");
    const struct {
        const char *name, *text;
    } FIELDS[] = {
        {"apiVersion", json_get_string(about, "apiVersion", "")},
        {"kind", json_get_string(about, "kind", "")},
        {"namespace", kube_meta_namespace(about)},
        {"name", kube_meta_name(about)},
        {"uid", kube_meta_uid(about)},
        {"resourceVersion", kube_meta_resource_version(about)},
    };
    for (size_t i = 0; i < ARRAY_SIZE(FIELDS); i++)
        if (*FIELDS[i].text)
            json_set_string(arena, reference, FIELDS[i].name, FIELDS[i].text);
    json_set_string(arena, event, "reason", news->reason);
    json_set_string(arena, event, "message", news->message);
    json_set_string(arena, json_ensure_object(arena, event, "source"), "component",
                    news->component);
    json_set_string(arena, event, "firstTimestamp", now);
    json_set_string(arena, event, "lastTimestamp", now);
    json_set_int(arena, event, "count", entry->count);
    json_set_string(arena, event, "type", news->type);
    json_set_string(arena, event, "reportingComponent", news->component);
    json_set_string(arena, event, "reportingInstance", "");
    return event;
}

static struct kube_event_entry *entry_new(struct kube_client *client, const char *key,
                                          const struct json *about)
{
    struct kube_event_entry *entry = mem_zalloc(sizeof(*entry));
    const char *namespace_ = kube_meta_namespace(about);
    forget_oldest(client);
    entry->client = client;
    entry->key = mem_strdup(key);
    /* An event lives in a namespace even where its object does not. */
    entry->namespace_ = mem_strdup(*namespace_ ? namespace_ : "default");
    entry->name = mem_printf("%.*s.%016llx", (int)NAME_BASE_MAX, kube_meta_name(about),
                             (unsigned long long)rand_next(&client->rand));
    entry->count = 1;
    loop_timer_init(client->loop, &entry->timer, on_timer);
    entry->previous = client->newest_event;
    if (entry->previous)
        entry->previous->next = entry;
    else
        client->oldest_event = entry;
    client->newest_event = entry;
    map_put(&client->events, key, entry);
    return entry;
}

/* Cut at the start of a character, so that what is left is UTF-8. */
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

static void make_entry(struct kube_client *client, struct arena *arena, const char *key,
                       const char *object, const char *reason, const struct news *news,
                       bool combined)
{
    bool important = str_eq(news->type, "Warning") ||
                     kube_event_budget_is_first(&client->event_budget, object, reason);
    if (client->line_length >= (important ? LINE_IMPORTANT_MAX : LINE_MAX))
        return;
    if (kube_event_budget_take(&client->event_budget, object, reason, loop_now_ms(client->loop)))
        return;
    struct kube_event_entry *entry = entry_new(client, key, news->about);
    entry->object = mem_strdup(object);
    entry->reason = mem_strdup(reason);
    entry->message = combined ? mem_strdup(news->message) : NULL;
    entry->draft = mem_strdup(json_to_string(arena, make_event(arena, entry, news)));
    stand_in_line(entry);
}

void kube_event(struct kube_client *client, const struct json *about, const char *component,
                const char *type, const char *reason, const char *format, ...)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    va_list args;
    va_start(args, format);
    char *message = arena_vprintf(arena, format, args);
    va_end(args);
    cut_message(message);
    const char *object = arena_printf(arena, "%s/%s/%s\n%s", kube_meta_namespace(about),
                                      kube_meta_name(about), kube_meta_uid(about), component);
    const char *kind = arena_printf(arena, "%s\n%s", type, reason);
    const char *key = arena_printf(arena, "%s\n%s\n%s", object, kind, message);
    struct kube_event_entry *entry = map_get(&client->events, key);
    bool combined = !entry && kube_event_budget_combines(&client->event_budget, object, kind,
                                                         loop_now_ms(client->loop));
    if (combined) {
        message = arena_printf(arena, "(combined from similar events): %s", message);
        cut_message(message);
        key = arena_printf(arena, "%s\n%s\n\ncombined", object, kind);
        entry = map_get(&client->events, key);
    }
    if (entry) {
        if (combined) {
            free(entry->message);
            entry->message = mem_strdup(message);
        }
        raise_count(entry);
        return;
    }
    struct news news = {about, component, type, reason, message};
    make_entry(client, arena, key, object, kind, &news, combined);
}
