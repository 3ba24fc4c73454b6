/* Carries out a pass; see pass.h. Used by controllers on their loop thread. This file does not read
 * the plan. The controller chooses the next call and decides what a failure means for later
 * stages. */
#include "kube/client/pass.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void on_pass_end(struct loop_task *task)
{
    struct kube_pass *pass = CONTAINER_OF(task, struct kube_pass, end);

    pass->done(pass->context, pass);
}

void kube_pass_init(struct kube_pass *pass, struct list_head *list, struct kube_object *workload)
{
    *pass = (struct kube_pass){
        .workload = kube_object_ref(workload),
        .arena = arena_new(),
        .end.callback = on_pass_end,
    };
    list_push(list, &pass->link);
}

void kube_pass_release(struct kube_pass *pass)
{
    list_remove(&pass->link);
    loop_defer_cancel(pass->loop, &pass->end);
    for (size_t i = 0; i < pass->held.count; i++)
        kube_object_unref(pass->held.items[i]);
    vec_release(&pass->held);
    kube_object_unref(pass->workload);
    arena_free(pass->arena);
}

const struct json *kube_pass_hold(struct kube_pass *pass, struct kube_object *object)
{
    vec_push(&pass->held, kube_object_ref(object));
    return object->json;
}

const struct json **kube_pass_hold_all(struct kube_pass *pass, struct kube_object *const *objects,
                                       size_t count)
{
    const struct json **trees = ARENA_ARRAY(pass->arena, const struct json *, count + 1);

    for (size_t i = 0; i < count; i++)
        trees[i] = kube_pass_hold(pass, objects[i]);
    return trees;
}

static int pass_compare_objects(const void *a, const void *b)
{
    return strcmp((*(struct kube_object *const *)a)->name, (*(struct kube_object *const *)b)->name);
}

const struct json **kube_pass_hold_map(struct kube_pass *pass, const struct map *objects,
                                       size_t *ret_count)
{
    struct kube_object **sorted =
        ARENA_ARRAY(pass->arena, struct kube_object *, objects->count + 1);
    size_t count = 0;
    const char *name;
    void *object;

    for (size_t i = 0; map_next(objects, &i, &name, &object);)
        sorted[count++] = object;
    qsort(sorted, count, sizeof(sorted[0]), pass_compare_objects);
    *ret_count = count;
    return kube_pass_hold_all(pass, sorted, count);
}

/* Starts calls of the stage up to the limit. Returns false when all calls of the stage have been
 * answered. */
static bool keep_calling(struct kube_pass *pass)
{
    size_t calls_max = pass->probes ? 1 : pass->calls_max;

    while (pass->under_way < calls_max && pass->stages->start_next(pass))
        pass->under_way++;
    return pass->under_way > 0;
}

static void pass_advance(struct kube_pass *pass)
{
    while (pass->stage < pass->stages->count) {
        if (keep_calling(pass))
            return;
        pass->stage = pass->stages->after ? pass->stages->after(pass) : pass->stage + 1;
        pass->position = 0;
    }
    if (pass->under_way == 0)
        loop_defer(pass->loop, &pass->end);
}

void kube_pass_start(struct kube_pass *pass)
{
    pass_advance(pass);
}

void kube_pass_answered(struct kube_pass *pass)
{
    pass->under_way--;
    pass->probes = false;
    pass_advance(pass);
}

bool kube_pass_has_answer(const struct err *err)
{
    return err->code != ERR_UNAVAILABLE && err->code != ERR_TIMEOUT && err->code != ERR_CANCELED;
}

void kube_pass_abort(struct kube_pass *pass, const struct err *err)
{
    pass->failed = err->code != ERR_NOT_FOUND;
    pass->unreachable = !kube_pass_has_answer(err);
    pass->stage = pass->stages->count;
}

void kube_pass_add_write(struct kube_pass *pass, const struct json *workload)
{
    if (pass->writes)
        kube_own_writes_add_updated(pass->writes, workload, loop_now_ms(pass->loop));
}

void kube_pass_event(struct kube_pass *pass, bool warning, const char *reason, const char *format,
                     ...)
{
    va_list args;

    va_start(args, format);
    const char *message = arena_vprintf(pass->arena, format, args);
    va_end(args);
    kube_event(pass->client, pass->workload->json, pass->component, warning ? "Warning" : "Normal",
               reason, "%s", message);
}
