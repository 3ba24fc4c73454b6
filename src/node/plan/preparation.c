/* Plans a pod and writes its files on a thread of the thread pool; see plan/preparation.h. */
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

/* An object that the plan has requested. */
struct requested {
    const struct kube_resource *resource;
    const char *namespace_, *name;
    struct kube_object *object; /* NULL if it does not exist */
    bool is_new;                /* the loop thread has not searched for the object yet */
};

struct plan_preparation {
    struct loop_work work;
    /* Only the loop thread uses `host`, `done` and `context`. `host` is NULL after
     * plan_preparation_abandon(). */
    const struct pod_host *host;
    plan_preparation_done *done;
    void *context;
    struct arena *arena; /* owns the strings of `input`, `groups` and `requested` */
    struct plan_input input;
    struct cgroup_base groups;
    struct node_size size;
    bool is_planned; /* the pod has a spec already; only its control groups are missing */
    /* Lines about services for the hosts file of a pod with hostNetwork, or NULL. */
    const char *host_names;
    VEC(struct requested) requested;
    VEC(struct kube_object *) services; /* services in the pod's namespace */
    struct plan_prepared prepared;
};

/* ---- On a thread of the pool ---- */

/* Returns the object if the loop thread has found it. Otherwise records the request and returns
 * NULL. */
static const struct json *plan_get_object(void *context, const struct kube_resource *resource,
                                          const char *namespace_, const char *name)
{
    struct plan_preparation *self = context;
    for (size_t i = 0; i < self->requested.count; i++) {
        const struct requested *requested = &self->requested.items[i];
        if (requested->resource == resource && str_eq(requested->namespace_, namespace_) &&
            str_eq(requested->name, name))
            return requested->object ? requested->object->json : NULL;
    }
    const struct requested requested = {.resource = resource,
                                        .namespace_ = arena_strdup(self->arena, namespace_),
                                        .name = arena_strdup(self->arena, name),
                                        .is_new = true};
    vec_push(&self->requested, requested);
    return NULL;
}

static const struct json *plan_next_service(void *context, const char *namespace_, size_t *position)
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
    const struct node_objects objects = {plan_get_object, self, plan_next_service};
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

/* Sets *ret to whether a supervisor of this pod runs. The loop thread has checked this too, but a
 * supervisor may have started since. */
static int find_supervisor(const struct plan_preparation *self, bool *ret, struct err *err)
{
    _cleanup_free_ char *lock = mem_printf("%s/lock", self->input.pod_dir);
    _cleanup_fd_ int pidfd = -1;
    int result = process_lock_find(lock, &pidfd, err);
    *ret = pidfd >= 0;
    return result;
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
    /* cgroup_base_place_pod() kills all processes in the pod's old groups, so no supervisor may
     * run. */
    if (find_supervisor(self, &self->prepared.is_up, err) == 0 && !self->prepared.is_up)
        (void)cgroup_base_place_pod(&self->groups, self->input.pod_dir,
                                    kube_meta_uid(self->input.pod), err);
}

/* ---- On the loop ---- */

static struct plan_preparation *preparation_free(struct plan_preparation *self)
{
    for (size_t i = 0; i < self->requested.count; i++)
        if (self->requested.items[i].object)
            kube_object_unref(self->requested.items[i].object);
    for (size_t i = 0; i < self->services.count; i++)
        kube_object_unref(self->services.items[i]);
    vec_release(&self->requested);
    vec_release(&self->services);
    pod_tokens_release(&self->prepared.tokens);
    kube_object_unref(self->prepared.pod);
    arena_free(self->arena);
    free(self);
    return NULL;
}

/* Searches for the objects that the plan has requested since the last call. Returns true if at
 * least one of them exists: the pod must be planned again. */
static bool find_requested(struct plan_preparation *self)
{
    const struct node_object_source *source = &self->host->source;
    bool is_found = false;
    for (size_t i = 0; i < self->requested.count; i++) {
        struct requested *requested = &self->requested.items[i];
        struct kube_object *object = requested->is_new
                                         ? source->get(source->context, requested->resource,
                                                       requested->namespace_, requested->name)
                                         : NULL;
        requested->is_new = false;
        if (object)
            requested->object = kube_object_ref(object);
        is_found = is_found || object;
    }
    return is_found;
}

/* Returns whether an object was created or changed after the plan used it. The pod is not planned
 * again for that, because objects may change faster than a plan is made. */
static bool has_newer(const struct plan_preparation *self)
{
    const struct node_object_source *source = &self->host->source;
    for (size_t i = 0; i < self->requested.count; i++) {
        const struct requested *requested = &self->requested.items[i];
        const struct kube_object *now = source->get(source->context, requested->resource,
                                                    requested->namespace_, requested->name);
        if (now && now != requested->object)
            return true;
    }
    return false;
}

static void on_prepared(struct loop_work *work)
{
    struct plan_preparation *self = CONTAINER_OF(work, struct plan_preparation, work);
    if (self->host && find_requested(self)) {
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

static const char *preparation_copy_text(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

static const char *const *preparation_copy_list(struct arena *arena, const char *const *list)
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
                                    const struct plan_preparation_request *request,
                                    struct arena *arena)
{
    return (struct plan_input){
        .pod = request->pod->json,
        .state_dir = preparation_copy_text(arena, host->state_dir),
        .pod_dir = preparation_copy_text(arena, request->directory),
        .handout_dir = preparation_copy_text(arena, host->handout_dir),
        .network = preparation_copy_text(arena, host->network),
        .nested = host->nested,
        .plain = host->plain != NULL,
        .address = preparation_copy_text(arena, request->address),
        .host_address = preparation_copy_text(arena, request->node_address),
        .api_port = host->api_port,
        .trainer_path = preparation_copy_text(arena, host->trainer_path),
        .step_path = preparation_copy_text(arena, host->step_path),
        .prober = preparation_copy_text(arena, host->prober),
        .started_ms = request->started_ms,
        .home = preparation_copy_text(arena, host->home),
        .shares = preparation_copy_list(arena, host->shares),
        .machine_resolv_conf = preparation_copy_text(arena, host->resolv_conf),
    };
}

/* Collects the objects that nearly every plan needs. The plan itself requests others. */
static void request_common(struct plan_preparation *self)
{
    const struct node_object_source *source = &self->host->source;
    const char *namespace_ = kube_meta_namespace(self->input.pod);
    struct kube_object *service;
    for (size_t at = 0; (service = source->next_service(source->context, namespace_, &at));)
        vec_push(&self->services, kube_object_ref(service));
    (void)plan_get_object(self, &KUBE_CONFIGMAPS, namespace_, "kube-root-ca.crt");
    (void)find_requested(self);
}

struct plan_preparation *plan_preparation_start(const struct pod_host *host,
                                                const struct plan_preparation_request *request,
                                                plan_preparation_done *done, void *context)
{
    struct plan_preparation *self = mem_zalloc(sizeof(*self));
    self->work = (struct loop_work){.work = preparation_run, .done = on_prepared};
    self->host = host;
    self->done = done;
    self->context = context;
    self->arena = arena_new();
    self->input = copy_input(host, request, self->arena);
    self->input.tokens = &self->prepared.tokens;
    self->prepared.pod = kube_object_ref(request->pod);
    self->prepared.tokens = *request->tokens;
    map_init(request->tokens);
    self->is_planned = request->is_planned;
    cgroup_base_copy(self->arena, host->groups, &self->groups);
    self->size = host->size;
    if (!request->is_planned)
        request_common(self);
    if (!request->is_planned && !host->plain && plan_uses_host_network(self->input.pod))
        self->host_names = host_names_text(host->host_names, self->arena, self->input.pod);
    loop_work_start(host->loop, &self->work);
    return self;
}

void plan_preparation_abandon(struct plan_preparation *preparation)
{
    if (preparation)
        preparation->host = NULL;
}
