/* Sends tables to the responder; see names/service.h. */
#include "node/names/service.h"

#include "node/names/names.h"
#include "node/process/helper_keeper.h"
#include "node/step/helper/epoll_watch.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>

enum {
    SOON_MS = 2, /* after a change; further changes in this time are included */
    /* The pause after a table, as a multiple of the time that the table took. So tables take at
     * most about a tenth of the loop's time. */
    PAUSE_FACTOR = 10,
};

struct names_service {
    struct names_service_options options;
    struct loop *loop;
    struct helper_keeper *keeper;
    struct loop_timer timer;
    int64_t pause_ms; /* the pause before the next table */
    char *table;      /* the text of the table that was sent last, or NULL */
};

static const struct json *names_service_next_service(void *context, size_t *position)
{
    const struct names_service *self = context;
    struct kube_object *object = kube_informer_next(self->options.services, NULL, position);
    return object ? object->json : NULL;
}

static const struct json *get_endpoints(void *context, const char *namespace_, const char *name)
{
    const struct names_service *self = context;
    struct kube_object *object = kube_informer_get(self->options.endpoints, namespace_, name);
    return object ? object->json : NULL;
}

/* Sends the current table to the responder, unless it equals the table that was sent last. */
static void names_service_send_table(struct names_service *self)
{
    const struct service_table_source source = {
        .next_service = names_service_next_service, .endpoints = get_endpoints, .context = self};
    const char *state_dir = self->options.helper.state_dir;
    struct names_table table;
    _cleanup_buf_ struct buf text;
    struct err err = ERR_INIT;
    buf_init(&text, NAMES_TABLE_MAX);
    names_table_init(&table);
    names_collect(&table, &source);
    names_table_write(&table, &text);
    names_table_release(&table);
    if (str_eq(self->table, text.data))
        return;
    if (helper_process_set_table(&HELPER_NAMES, state_dir, &text, &err) < 0) {
        log_warning("names", "%s", err.message);
        return;
    }
    free(self->table);
    self->table = buf_take(&text);
}

static void on_names_service_timer(struct loop_timer *timer)
{
    struct names_service *self = CONTAINER_OF(timer, struct names_service, timer);
    int64_t start = epoll_watch_now_ms();
    names_service_send_table(self);
    self->pause_ms = PAUSE_FACTOR * (epoll_watch_now_ms() - start);
}

void names_service_changed(struct names_service *self)
{
    if (!self->timer.running)
        loop_timer_start(&self->timer, self->pause_ms > SOON_MS ? self->pause_ms : SOON_MS);
}

struct names_service *names_service_new(struct loop *loop,
                                        const struct names_service_options *options)
{
    struct names_service *self = mem_zalloc(sizeof(*self));
    self->options = *options;
    self->loop = loop;
    loop_timer_init(loop, &self->timer, on_names_service_timer);
    self->keeper = helper_keeper_new(loop, &HELPER_NAMES, &options->helper);
    return self;
}

struct names_service *names_service_free(struct names_service *self)
{
    if (!self)
        return NULL;
    loop_timer_stop(&self->timer);
    helper_keeper_free(self->keeper);
    free(self->table);
    free(self);
    return NULL;
}
