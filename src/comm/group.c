/* A group of training processes; see group.h. Puts together who takes part (tf_config), how they
 * find each other (rendezvous), how bytes move (transport) and what is computed (collectives). */
#include "comm/group.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/moment.h"
#include "comm/collective.h"
#include "comm/rendezvous.h"
#include "comm/secret.h"
#include "comm/tf_config.h"

#include <string.h>

enum { TIMEOUT_MS = 5 * 60 * 1000, REPORT_MS = 5000 };

struct comm_group {
    struct comm_links links;
};

/* The synchronous tasks stand first in the description: the chief, then the workers. */
static int check_config(const struct ty_tf_config *config, int *ret_size, struct err *err)
{
    const struct ty_task *self = &config->tasks[config->self];
    if (self->role != TY_ROLE_CHIEF && self->role != TY_ROLE_WORKER)
        return err_set(err, ERR_UNSUPPORTED,
                       "%s %d takes no part in synchronous training: only a chief and workers do",
                       ty_role_name(self->role), self->index);
    if (config->sparse)
        return err_set(err, ERR_UNSUPPORTED,
                       "this TF_CONFIG has the sparse form of dynamic workers, which does not name "
                       "the other workers: synchronous training needs all of them; set "
                       "enableDynamicWorker to false or train with parameter servers");
    *ret_size = (int)tf_config_workers(config);
    return 0;
}

/* The first call of all: nobody returns from it before everybody is connected with everybody. */
static int join(const struct rendezvous_options *meeting, struct rendezvous_links *links,
                int64_t deadline, struct transport_tcp **ret, struct err *err)
{
    int64_t left = deadline - moment_monotonic_ms();
    const struct transport_tcp_options transport = {
        .tasks = meeting->tasks,
        .rank = meeting->rank,
        .size = meeting->size,
        .channels = meeting->channels,
        .timeout_ms = left > 1 ? left : 1,
        .report_ms = meeting->report_ms,
        .report = meeting->report,
        .context = meeting->context,
    };
    struct transport_tcp *tcp = transport_tcp_new(&transport, links);
    int result = transport_tcp_begin(tcp, TRANSPORT_JOIN, 0, err);
    if (result == 0 && meeting->size > 1)
        result = collective_barrier_direct(tcp, err);
    if (result == 0)
        *ret = tcp;
    else
        transport_tcp_free(tcp);
    return result;
}

/* One may die after some have met it and before others have, and come back: until the deadline, a
 * group that breaks while it forms is formed again. */
static int form(const struct rendezvous_options *meeting, struct transport_tcp **ret,
                struct err *err)
{
    int64_t deadline = moment_monotonic_ms() + meeting->timeout_ms;
    for (;;) {
        struct rendezvous_options again = *meeting;
        again.timeout_ms = deadline - moment_monotonic_ms();
        struct rendezvous_links links;
        int result = rendezvous_meet(&again, &links, err);
        if (result < 0)
            return result;
        struct err failure = ERR_INIT;
        result = join(meeting, &links, deadline, ret, &failure);
        if (result == 0)
            return 0;
        if (failure.code != ERR_UNAVAILABLE || moment_monotonic_ms() >= deadline)
            return err_set(err, failure.code, "%s", failure.message);
        if (meeting->report)
            meeting->report(meeting->context, failure.message);
    }
}

int comm_group_open(const struct comm_options *options, struct comm_group **ret, struct err *err)
{
    int size = 0, channels = options->channels ? options->channels : 1;
    int result = check_config(options->config, &size, err);
    if (result < 0)
        return result;
    if (channels < 1 || channels > COMM_CHANNELS_MAX)
        return err_set(err, ERR_INVALID, "%d channels: between 1 and %d are possible", channels,
                       COMM_CHANNELS_MAX);
    _cleanup_buf_ struct buf secret;
    buf_init(&secret, SECRET_MAX);
    if (options->secret)
        buf_append_str(&secret, options->secret);
    else
        result = secret_from_environment(&secret, err);
    if (result < 0)
        return result;
    if (secret.overflowed)
        return err_set(err, ERR_TOO_LARGE, "the job secret is longer than %d bytes", SECRET_MAX);
    struct rendezvous_options meeting = {
        .tasks = options->config->tasks,
        .rank = (int)options->config->self,
        .size = size,
        .channels = channels,
        .master_form = options->config->master_form,
        .shape = options->shape,
        .secret = secret.data,
        .secret_size = secret.size,
        .timeout_ms = options->join_timeout_ms ? options->join_timeout_ms : TIMEOUT_MS,
        .report_ms = options->report_ms ? options->report_ms : REPORT_MS,
        .report = options->report,
        .waiting = options->waiting,
        .context = options->context,
    };
    struct transport_tcp *tcp = NULL;
    if ((result = form(&meeting, &tcp, err)) < 0)
        return result;
    transport_tcp_set_timeout(tcp, options->timeout_ms ? options->timeout_ms : TIMEOUT_MS);
    struct comm_group *group = mem_zalloc(sizeof(*group));
    group->links.tcp = tcp;
    group->links.narrow = options->wire == COMM_WIRE_BF16;
    if (size > 1 && options->transport == COMM_TRANSPORT_AUTO)
        result = transport_shm_open(tcp, options->pretended_host, &group->links.shm, err);
    if (result < 0)
        comm_group_free(group);
    else
        *ret = group;
    return result;
}

struct comm_group *comm_group_free(struct comm_group *group)
{
    if (!group)
        return NULL;
    transport_shm_free(group->links.shm);
    transport_tcp_free(group->links.tcp);
    free(group);
    return NULL;
}

int comm_group_rank(const struct comm_group *group)
{
    return transport_tcp_rank(group->links.tcp);
}

int comm_group_size(const struct comm_group *group)
{
    return transport_tcp_size(group->links.tcp);
}

int comm_group_share(struct comm_group *group, struct shared_memory *memory, struct err *err)
{
    int result = memory->handed ? shared_memory_renew(memory, err) : 0;
    if (result < 0 || !group->links.shm)
        return result;
    return transport_shm_share(group->links.shm, memory, err);
}

void *comm_group_peer_memory(struct comm_group *group, size_t memory, int rank)
{
    return group->links.shm ? transport_shm_arena_at(group->links.shm, memory, rank) : NULL;
}

enum comm_broken comm_group_broken(const struct comm_group *group)
{
    switch (transport_tcp_broken_by(group->links.tcp)) {
    case ERR_NONE:
        return COMM_BROKEN_MESSAGE;
    case ERR_UNAVAILABLE:
    case ERR_TIMEOUT:
        return COMM_BROKEN_PEER;
    default:
        return COMM_BROKEN_GROUP;
    }
}

/* Groups of one have nobody to talk to, but count their calls like all. */
static bool is_alone(const struct comm_group *group)
{
    return comm_group_size(group) == 1;
}

int comm_allreduce_sum_f32(struct comm_group *group, float *data, size_t count, struct err *err)
{
    int result =
        transport_tcp_begin(group->links.tcp, TRANSPORT_ALLREDUCE, count * sizeof(float), err);
    if (result < 0 || is_alone(group))
        return result;
    return collective_allreduce_choose(&group->links, count)
        ->run(&group->links, NULL, data, count, err);
}

int comm_allreduce_by_name(struct comm_group *group, const char *name, float *data, size_t count,
                           struct err *err)
{
    const struct collective_allreduce *algorithm = collective_allreduce_by_name(name);
    if (!algorithm || !algorithm->can(&group->links, count))
        return err_set(err, ERR_UNSUPPORTED, "all-reduce '%s' cannot be used here", name);
    int result = data ? transport_tcp_begin(group->links.tcp, TRANSPORT_ALLREDUCE,
                                            count * sizeof(float), err)
                      : 0;
    if (result < 0 || !data || is_alone(group))
        return result;
    return algorithm->run(&group->links, NULL, data, count, err);
}

const char *comm_allreduce_name(const struct comm_group *group, size_t count)
{
    return collective_allreduce_choose(&group->links, count)->name;
}

int comm_broadcast(struct comm_group *group, void *data, size_t size, struct err *err)
{
    int result = transport_tcp_begin(group->links.tcp, TRANSPORT_BROADCAST, size, err);
    if (result < 0 || is_alone(group))
        return result;
    if (comm_links_all_shared(&group->links))
        return collective_broadcast_shared(group->links.shm, data, size, err);
    return collective_broadcast_ring(group->links.tcp, data, size, err);
}

int comm_allgather(struct comm_group *group, const void *own, size_t size, void *ret_all,
                   struct err *err)
{
    int result = transport_tcp_begin(group->links.tcp, TRANSPORT_ALLGATHER, size, err);
    if (result < 0)
        return result;
    char *place = (char *)ret_all + (size_t)comm_group_rank(group) * size;
    if (place != own && size)
        memcpy(place, own, size);
    if (is_alone(group))
        return 0;
    if (comm_links_all_shared(&group->links))
        return collective_allgather_shared(group->links.shm, size, ret_all, err);
    return collective_allgather_ring(group->links.tcp, size, ret_all, err);
}

int comm_barrier(struct comm_group *group, struct err *err)
{
    int result = transport_tcp_begin(group->links.tcp, TRANSPORT_BARRIER, 0, err);
    if (result < 0 || is_alone(group))
        return result;
    if (comm_links_all_shared(&group->links))
        return collective_barrier_shared(group->links.shm, err);
    return collective_barrier_direct(group->links.tcp, err);
}
