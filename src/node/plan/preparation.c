/* Prepares a pod on the pool; see plan/preparation.h. */
#include "node/plan/preparation.h"

#include "node/image/table.h"
#include "node/limits/cgroup_base.h"
#include "node/names/host_names.h"
#include "node/node_size.h"
#include "node/plan/limits.h"
#include "node/pod/tokens.h"
#include "node/process/lock.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/boot.h"
#include "base/system/file.h"
#include "base/vec.h"
#include "kube/object.h"

#include <stdlib.h>

/* An object that the plan needs. */
struct asked {
    const struct kube_resource *resource;
    const char *namespace_, *name;
    struct kube_object *object; /* NULL if it does not exist */
    bool is_new;                /* the loop thread has not searched for the object yet */
};

struct plan_preparation {
    struct loop_work work;
    /* NULL after plan_preparation_abandon(). Only the loop thread uses `host`, `done` and
     * `context`. */
    const struct pod_host *host;
    plan_preparation_done *done;
    void *context;
    struct arena *arena; /* owns the memory that the fields below point to */
    struct plan_input input;
    struct cgroup_base groups;
    struct node_size size;
    bool is_planned;
    /* Lines about services for the hosts file of a pod with hostNetwork, or NULL. */
    const char *host_names;
    VEC(struct asked) asked;
    VEC(struct kube_object *) services; /* services in the pod's namespace */
    struct plan_prepared prepared;
};

/* ---- On the pool ---- */

static const struct json *get_asked(void *context, const struct kube_resource *resource,
                                    const char *namespace_, const char *name)
{
    struct plan_preparation *self = context;
    for (size_t i = 0; i < self->asked.count; i++) {
        const struct asked *asked = &self->asked.items[i];
        if (asked->resource == resource && str_eq(asked->namespace_, namespace_) &&
            str_eq(asked->name, name))
            return asked->object ? asked->object->json : NULL;
    }
    const struct asked asked = {.resource = resource,
                                .namespace_ = arena_strdup(self->arena, namespace_),
                                .name = arena_strdup(self->arena, name),
                                .is_new = true};
    vec_push(&self->asked, asked);
    return NULL;
}

static const struct json *next_held_service(void *context, const char *namespace_, size_t *position)
{
    const struct plan_preparation *self = context;
    return *position < self->services.count ? self->services.items[(*position)++]->json : NULL;
}

/* Does not wait for the disk, because after a reboot the pod is planned again. */
static int write_hosts(const struct plan_preparation *self, struct arena *arena, const char *own,
                       struct err *err)
{
    const char *path = arena_printf(arena, "%s/hosts", self->input.pod_dir);
    const char *text = arena_printf(arena, "%s%s", own, self->host_names);
    return file_replace(path, text, strlen(text), 0644, err);
}

static int preparation_plan_pod(struct plan_preparation *self, struct arena *arena, struct err *err)
{
    struct plan_prepared *prepared = &self->prepared;
    struct plan_input input = self->input;
    const struct node_objects objects = {get_asked, self, next_held_service};
    struct json *images;
    struct pod_spec spec;
    char boot[BOOT_ID_MAX];
    int result;
    input.objects = &objects;
    input.capacity = node_size_capacity(arena, &self->size);
    if ((result = file_make_dirs(input.pod_dir, 0700, err)) < 0 ||
        (result = image_table_load(arena, input.state_dir, &images, err)) < 0)
        return result;
    input.images = images;
    if ((result = plan_pod(arena, &input, &spec, &prepared->refusal, err)) < 0 ||
        (result = plan_limits(input.pod, &spec, err)) < 0 ||
        (result = self->host_names ? write_hosts(self, arena, spec.hosts, err) : 0) < 0 ||
        (result = boot_id(boot, err)) < 0)
        return result;
    spec.boot = boot;
    prepared->deadline_ms = spec.deadline_ms;
    return pod_spec_store(input.pod_dir, &spec, err);
}

/* A supervisor may have started after the loop thread has checked. */
static bool has_supervisor(const struct plan_preparation *self)
{
    _cleanup_free_ char *lock = mem_printf("%s/lock", self->input.pod_dir);
    _cleanup_fd_ int pidfd = -1;
    pid_t pid;
    return process_lock_holder(lock, &pidfd, &pid, NULL) == 0;
}

static void preparation_run(struct loop_work *work)
{
    struct plan_preparation *self = CONTAINER_OF(work, struct plan_preparation, work);
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct err *err = &self->prepared.err;
    err_clear(err);
    self->prepared.refusal = (struct plan_refusal){.reason = "FailedCreatePodSandBox"};
    if (!self->is_planned && preparation_plan_pod(self, arena, err) < 0)
        return;
    /* Placing the groups kills every process that is left in them. */
    self->prepared.is_up = has_supervisor(self);
    if (!self->prepared.is_up)
        (void)cgroup_base_place_pod(&self->groups, self->input.pod_dir,
                                    kube_meta_uid(self->input.pod), err);
}

/* ---- On the loop ---- */

static struct plan_preparation *preparation_free(struct plan_preparation *self)
{
    for (size_t i = 0; i < self->asked.count; i++)
        if (self->asked.items[i].object)
            kube_object_unref(self->asked.items[i].object);
    for (size_t i = 0; i < self->services.count; i++)
        kube_object_unref(self->services.items[i]);
    vec_release(&self->asked);
    vec_release(&self->services);
    pod_tokens_release(&self->prepared.tokens);
    kube_object_unref(self->prepared.pod);
    arena_free(self->arena);
    free(self);
    return NULL;
}

/* Finds objects that the plan has requested. Returns true if there is one that the plan did not
 * have. */
static bool find_asked(struct plan_preparation *self)
{
    const struct node_object_source *source = &self->host->source;
    bool is_found = false;
    for (size_t i = 0; i < self->asked.count; i++) {
        struct asked *asked = &self->asked.items[i];
        struct kube_object *object = asked->is_new ? source->get(source->context, asked->resource,
                                                                 asked->namespace_, asked->name)
                                                   : NULL;
        asked->is_new = false;
        if (object)
            asked->object = kube_object_ref(object);
        is_found = is_found || object;
    }
    return is_found;
}

/* Whether an object has changed since it was given to the plan. The pod is not planned again,
 * because objects may change faster than a plan is made. */
static bool has_newer(const struct plan_preparation *self)
{
    const struct node_object_source *source = &self->host->source;
    for (size_t i = 0; i < self->asked.count; i++) {
        const struct asked *asked = &self->asked.items[i];
        const struct kube_object *now =
            source->get(source->context, asked->resource, asked->namespace_, asked->name);
        if (now && now != asked->object)
            return true;
    }
    return false;
}

static void on_prepared(struct loop_work *work)
{
    struct plan_preparation *self = CONTAINER_OF(work, struct plan_preparation, work);
    if (self->host && find_asked(self)) {
        loop_work_start(self->host->loop,
                        work); /* plans again, with the objects that were missing */
        return;
    }
    if (self->host) {
        self->prepared.is_stale = has_newer(self);
        self->done(self->context, &self->prepared);
    }
    preparation_free(self);
}

static const char *preparation_keep_text(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

static const char *const *keep_list(struct arena *arena, const char *const *list)
{
    size_t count = 0;
    if (!list)
        return NULL;
    while (list[count])
        count++;
    const char **copy = ARENA_ARRAY(arena, const char *, count + 1);
    for (size_t i = 0; i < count; i++)
        copy[i] = arena_strdup(arena, list[i]);
    return copy;
}

static struct plan_input copy_input(const struct pod_host *host,
                                    const struct plan_preparation_order *order, struct arena *arena)
{
    return (struct plan_input){
        .pod = order->pod->json,
        .state_dir = preparation_keep_text(arena, host->state_dir),
        .pod_dir = preparation_keep_text(arena, order->directory),
        .handout_dir = preparation_keep_text(arena, host->handout_dir),
        .network = preparation_keep_text(arena, host->network),
        .nested = host->nested,
        .plain = host->plain != NULL,
        .address = preparation_keep_text(arena, order->address),
        .host_address = preparation_keep_text(arena, order->node_address),
        .api_port = host->api_port,
        .trainer_path = preparation_keep_text(arena, host->trainer_path),
        .step_path = preparation_keep_text(arena, host->step_path),
        .prober = preparation_keep_text(arena, host->prober),
        .started_ms = order->started_ms,
        .home = preparation_keep_text(arena, host->home),
        .shares = keep_list(arena, host->shares),
        .machine_resolv_conf = preparation_keep_text(arena, host->resolv_conf),
    };
}

/* Collects the objects that nearly every plan needs. The plan itself requests others. */
static void hold_common(struct plan_preparation *self)
{
    const struct node_object_source *source = &self->host->source;
    const char *namespace_ = kube_meta_namespace(self->input.pod);
    struct kube_object *service;
    for (size_t at = 0; (service = source->next_service(source->context, namespace_, &at));)
        vec_push(&self->services, kube_object_ref(service));
    (void)get_asked(self, &KUBE_CONFIGMAPS, namespace_, "kube-root-ca.crt");
    (void)find_asked(self);
}

struct plan_preparation *plan_preparation_start(const struct pod_host *host,
                                                const struct plan_preparation_order *order,
                                                plan_preparation_done *done, void *context)
{
    struct plan_preparation *self = mem_zalloc(sizeof(*self));
    self->work = (struct loop_work){.work = preparation_run, .done = on_prepared};
    self->host = host;
    self->done = done;
    self->context = context;
    self->arena = arena_new();
    self->input = copy_input(host, order, self->arena);
    self->input.tokens = &self->prepared.tokens;
    self->prepared.pod = kube_object_ref(order->pod);
    self->prepared.tokens = *order->tokens;
    map_init(order->tokens);
    self->is_planned = order->is_planned;
    cgroup_base_copy(self->arena, host->groups, &self->groups);
    self->size = host->size;
    if (!order->is_planned)
        hold_common(self);
    if (!order->is_planned && !host->plain && plan_uses_host_network(self->input.pod))
        self->host_names = host_names_text(host->host_names, self->arena, self->input.pod);
    loop_work_start(host->loop, &self->work);
    return self;
}

void plan_preparation_abandon(struct plan_preparation *preparation)
{
    if (preparation)
        preparation->host = NULL;
}
