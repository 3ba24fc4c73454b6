/* A group of training processes; see group.h. Puts together how it comes about (assembly), how
 * bytes move (transports) and what is computed (collectives). */
#include "comm/group/group.h"

#include "base/mem.h"
#include "comm/collective/collective.h"
#include "comm/group/assembly.h"

#include <string.h>

struct comm_group {
    struct assembly *assembly;
    struct comm_links links; /* tcp NULL: it could not be formed anew, for this reason: */
    struct err unformed;
    int rank, size; /* as they are, or were last */
    enum comm_transport transport;
    char *pretended_host;
};

static int answer_unformed(const struct comm_group *group, struct err *err)
{
    return err_set(err, group->unformed.code, "%s", group->unformed.message);
}

static void part(struct comm_group *group)
{
    group->links.shm = transport_shm_free(group->links.shm);
    assembly_part(group->assembly, TAKE(group->links.tcp));
}

/* Members of one machine may be lost while they find each other there, too: then once more. */
static int form(struct comm_group *group, struct err *err)
{
    for (;;) {
        int result = assembly_form(group->assembly, &group->links.tcp, err);
        if (result < 0)
            return result;
        if (transport_tcp_size(group->links.tcp) > 1 && group->transport == COMM_TRANSPORT_AUTO)
            result =
                transport_shm_open(group->links.tcp, group->pretended_host, &group->links.shm, err);
        if (result == 0) {
            group->rank = transport_tcp_rank(group->links.tcp);
            group->size = transport_tcp_size(group->links.tcp);
            return 0;
        }
        part(group);
        if (result != -ERR_UNAVAILABLE)
            return result;
    }
}

int comm_group_open(const struct comm_options *options, struct comm_group **ret, struct err *err)
{
    _cleanup_(cleanup_comm_group) struct comm_group *group = mem_zalloc(sizeof(*group));
    group->transport = options->transport;
    group->links.narrow = options->wire == COMM_WIRE_BF16;
    group->pretended_host = options->pretended_host ? mem_strdup(options->pretended_host) : NULL;
    int result = assembly_new(options, &group->assembly, err);
    if (result == 0)
        result = form(group, err);
    if (result == 0)
        *ret = TAKE(group);
    return result;
}

struct comm_group *comm_group_free(struct comm_group *group)
{
    if (!group)
        return NULL;
    transport_shm_free(group->links.shm);
    transport_tcp_free(group->links.tcp);
    assembly_free(group->assembly);
    free(group->pretended_host);
    free(group);
    return NULL;
}

int comm_group_reform(struct comm_group *group, struct err *err)
{
    part(group);
    group->unformed = ERR_INIT;
    if (form(group, &group->unformed) == 0)
        return 0;
    return answer_unformed(group, err);
}

void comm_group_settle(struct comm_group *group)
{
    assembly_settle(group->assembly, group->links.tcp);
}

void comm_group_dismiss(struct comm_group *group, int rank)
{
    assembly_dismiss(group->assembly, rank);
}

void comm_group_name(const struct comm_group *group, int rank, char *text, size_t size)
{
    assembly_name(group->assembly, rank, text, size);
}

bool comm_group_is_elastic(const struct comm_group *group)
{
    return assembly_is_elastic(group->assembly);
}

bool comm_group_is_wanted(struct comm_group *group)
{
    return assembly_is_wanted(group->assembly);
}

void comm_group_describe(const struct comm_group *group, char *text, size_t size)
{
    assembly_describe(group->assembly, text, size);
}

int comm_group_rank(const struct comm_group *group)
{
    return group->rank;
}

int comm_group_size(const struct comm_group *group)
{
    return group->size;
}

int comm_group_share(struct comm_group *group, struct shared_memory *memory, struct err *err)
{
    if (!group->links.tcp)
        return answer_unformed(group, err);
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
    if (!group->links.tcp)
        return COMM_BROKEN_PEER;
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

static int begin(struct comm_group *group, enum transport_call call, size_t size, struct err *err)
{
    if (!group->links.tcp)
        return answer_unformed(group, err);
    return transport_tcp_begin(group->links.tcp, call, size, err);
}

/* Groups of one have nobody to talk to, but count their calls like all. */
static bool is_alone(const struct comm_group *group)
{
    return comm_group_size(group) == 1;
}

int comm_allreduce_sum_f32(struct comm_group *group, float *data, size_t count, struct err *err)
{
    int result = begin(group, TRANSPORT_ALLREDUCE, count * sizeof(float), err);
    if (result < 0 || is_alone(group))
        return result;
    return collective_allreduce_choose(&group->links, count)
        ->run(&group->links, NULL, data, count, err);
}

int comm_allreduce_by_name(struct comm_group *group, const char *name, float *data, size_t count,
                           struct err *err)
{
    if (!group->links.tcp)
        return answer_unformed(group, err);
    const struct collective_allreduce *algorithm = collective_allreduce_by_name(name);
    if (!algorithm || !algorithm->can(&group->links, count))
        return err_set(err, ERR_UNSUPPORTED, "all-reduce '%s' cannot be used here", name);
    int result = data ? begin(group, TRANSPORT_ALLREDUCE, count * sizeof(float), err) : 0;
    if (result < 0 || !data || is_alone(group))
        return result;
    return algorithm->run(&group->links, NULL, data, count, err);
}

const char *comm_allreduce_name(const struct comm_group *group, size_t count)
{
    return collective_allreduce_choose(&group->links, count)->name;
}

int comm_broadcast(struct comm_group *group, int root, void *data, size_t size, struct err *err)
{
    int result = begin(group, TRANSPORT_BROADCAST, size, err);
    if (result < 0 || is_alone(group))
        return result;
    if (comm_links_all_shared(&group->links))
        return collective_broadcast_shared(group->links.shm, root, data, size, err);
    return collective_broadcast_ring(group->links.tcp, root, data, size, err);
}

int comm_allgather(struct comm_group *group, const void *own, size_t size, void *ret_all,
                   struct err *err)
{
    int result = begin(group, TRANSPORT_ALLGATHER, size, err);
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
    int result = begin(group, TRANSPORT_BARRIER, 0, err);
    if (result < 0 || is_alone(group))
        return result;
    if (comm_links_all_shared(&group->links))
        return collective_barrier_shared(group->links.shm, err);
    return collective_barrier_direct(group->links.tcp, err);
}
