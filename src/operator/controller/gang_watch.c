/* Watches PodGroups; see gang_watch.h. */
#include "operator/controller/gang_watch.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>

struct gang_watch {
    const struct training_kind *kind;
    char *scheduler;
    char *missing; /* the memory of gang.missing */
    struct training_gang gang;
    struct kube_informer *groups;
};

struct gang_watch *gang_watch_new(struct kube_client *client, const struct training_kind *kind,
                                  const char *namespace_, const char *scheduler,
                                  kube_informer_change *change, void *context)
{
    static const char *const fields[] = {
        "metadata.deletionTimestamp",
        "metadata.labels",
        "metadata.ownerReferences.controller",
        "metadata.ownerReferences.uid",
        "spec",
        "status.phase",
        NULL,
    };
    struct gang_watch *watch = mem_zalloc(sizeof(*watch));

    watch->kind = kind;
    watch->scheduler = mem_strdup(scheduler);
    training_gang_init(&watch->gang, watch->scheduler);
    watch->groups = kube_informer_new(client, watch->gang.resource, namespace_, kind->selector,
                                      change, context);
    kube_informer_keep(watch->groups, fields);
    return watch;
}

struct gang_watch *gang_watch_free(struct gang_watch *watch)
{
    if (!watch)
        return NULL;
    kube_informer_free(watch->groups);
    free(watch->missing);
    free(watch->scheduler);
    free(watch);
    return NULL;
}

/* Returns the server's answer that it has no PodGroups or forbids reading them. Returns NULL if the
 * list succeeded or failed for another reason. */
static const struct err *gang_watch_refusal(const struct gang_watch *watch)
{
    const struct err *failure = kube_informer_failure(watch->groups);

    if (!failure || (failure->code != ERR_NOT_FOUND && failure->code != ERR_FORBIDDEN))
        return NULL;
    return failure;
}

bool gang_watch_is_ready(const struct gang_watch *watch)
{
    return kube_informer_synced(watch->groups) || gang_watch_refusal(watch);
}

const struct err *gang_watch_failure(const struct gang_watch *watch)
{
    return kube_informer_failure(watch->groups);
}

const struct kube_resource *gang_watch_resource(const struct gang_watch *watch)
{
    return watch->gang.resource;
}

void gang_watch_resync(struct gang_watch *watch)
{
    kube_informer_resync(watch->groups);
}

static char *missing_text(const struct gang_watch *watch, const struct err *failure)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *resource = kube_resource_text(arena, watch->gang.resource);

    if (failure->code == ERR_NOT_FOUND)
        return mem_printf("the server does not know %s (%s); install them with the scheduler, or "
                          "run the operator without a gang scheduler",
                          resource, watch->gang.resource->version);
    return mem_printf("the operator is not allowed to read %s: %s", resource, failure->message);
}

const struct training_gang *gang_watch_inspect(struct gang_watch *watch)
{
    const struct err *failure = gang_watch_refusal(watch);
    _cleanup_free_ char *missing = failure ? missing_text(watch, failure) : NULL;

    if (str_eq(missing, watch->missing))
        return &watch->gang;
    free(watch->missing);
    watch->missing = TAKE(missing);
    watch->gang.missing = watch->missing;
    if (failure)
        log_warning(watch->kind->controller_name, "jobs wait for their PodGroups: %s",
                    watch->missing);
    else
        log_info(watch->kind->controller_name, "PodGroups are available: jobs continue");
    return &watch->gang;
}
