/* Implements groups of training processes; see group.h. Combines formation, the transports and the
 * collectives. */
#include "comm/group/group.h"

#include "base/mem.h"
#include "comm/collective/collective.h"
#include "comm/group/formation.h"

#include <string.h>

struct comm_group {
    struct formation *formation;
    /* The connections of the current group. `control` is NULL if forming it again failed. */
    struct collective_transports transports;
    struct err unformed; /* why forming the group again failed */
    int rank, size; /* in the current group or, if forming it again failed, in the previous one */
    enum comm_transport transport;
    char *pretended_host;
};

static int group_unformed_error(const struct comm_group *group, struct err *err)
{
    return err_set(err, group->unformed.code, "%s", group->unformed.message);
}

/* Leaves the current group. Closes the control connections before the data connections, so that the
 * other members have been told that this member leaves when the data connections close. */
static void group_leave(struct comm_group *group)
{
    struct collective_transports *transports = &group->transports;
    transports->memory = transport_close(transports->memory);
    formation_disband(group->formation, TAKE(transports->control));
    transports->streams = transport_close(transports->streams);
}

static int group_open_transports(struct comm_group *group, struct connection_set *connections,
                                 struct err *err)
{
    struct collective_transports *transports = &group->transports;
    const struct transport_config config = {.control = transports->control,
                                            .connections = connections,
                                            .pretended_host = group->pretended_host};
    int result = transport_open(TRANSPORT_STREAM, &config, &transports->streams, err);
    if (result == 0 && group->size > 1 && group->transport == COMM_TRANSPORT_AUTO)
        result = transport_open(TRANSPORT_MEMORY, &config, &transports->memory, err);
    return result;
}

/* Forms a group and opens its transports. Starts again if a member is lost while the transports
 * open. */
static int group_form(struct comm_group *group, struct err *err)
{
    for (;;) {
        struct connection_set connections = {0};
        int result =
            formation_connect(group->formation, &group->transports.control, &connections, err);
        if (result < 0)
            return result;
        int rank = group->rank, size = group->size;
        group->rank = control_rank(group->transports.control);
        group->size = control_size(group->transports.control);
        result = group_open_transports(group, &connections, err);
        connection_set_release(&connections);
        if (result == 0)
            return 0;
        group->rank = rank;
        group->size = size;
        group_leave(group);
        if (result != -ERR_UNAVAILABLE)
            return result;
    }
}

int comm_group_open(const struct comm_options *options, struct comm_group **ret, struct err *err)
{
    _cleanup_(cleanup_comm_group) struct comm_group *group = mem_zalloc(sizeof(*group));
    group->transport = options->transport;
    group->transports.narrow = options->wire == COMM_WIRE_BF16;
    group->pretended_host = options->pretended_host ? mem_strdup(options->pretended_host) : NULL;
    int result = formation_new(options, &group->formation, err);
    if (result == 0)
        result = group_form(group, err);
    if (result == 0)
        *ret = TAKE(group);
    return result;
}

struct comm_group *comm_group_free(struct comm_group *group)
{
    if (!group)
        return NULL;
    transport_close(group->transports.memory);
    control_free(group->transports.control);
    transport_close(group->transports.streams);
    formation_free(group->formation);
    free(group->pretended_host);
    free(group);
    return NULL;
}

int comm_group_reform(struct comm_group *group, struct err *err)
{
    group_leave(group);
    group->unformed = ERR_INIT;
    if (group_form(group, &group->unformed) == 0)
        return 0;
    return group_unformed_error(group, err);
}

void comm_group_settle(struct comm_group *group)
{
    formation_settle(group->formation, group->transports.control);
}

void comm_group_dismiss(struct comm_group *group, int rank)
{
    formation_dismiss(group->formation, rank);
}

void comm_group_name(const struct comm_group *group, int rank, char *text, size_t size)
{
    formation_member_name(group->formation, rank, text, size);
}

bool comm_group_is_elastic(const struct comm_group *group)
{
    return formation_is_elastic(group->formation);
}

bool comm_group_is_wanted(struct comm_group *group)
{
    return formation_is_wanted(group->formation);
}

void comm_group_describe(const struct comm_group *group, char *text, size_t size)
{
    formation_describe(group->formation, text, size);
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
    if (!group->transports.control)
        return group_unformed_error(group, err);
    int result = memory->was_shared ? shared_memory_renew(memory, err) : 0;
    if (result < 0 || !group->transports.memory)
        return result;
    return transport_share(group->transports.memory, memory, err);
}

void *comm_group_peer_memory(struct comm_group *group, size_t memory, int rank)
{
    return group->transports.memory ? transport_peer_memory(group->transports.memory, memory, rank)
                                    : NULL;
}

enum comm_broken comm_group_broken(const struct comm_group *group)
{
    if (!group->transports.control)
        return COMM_BROKEN_PEER;
    switch (control_broken_code(group->transports.control)) {
    case ERR_NONE:
        return COMM_BROKEN_MESSAGE;
    case ERR_UNAVAILABLE:
    case ERR_TIMEOUT:
        return COMM_BROKEN_PEER;
    default:
        return COMM_BROKEN_GROUP;
    }
}

static int group_begin_call(struct comm_group *group, enum control_call call, size_t size,
                            struct err *err)
{
    if (!group->transports.control)
        return group_unformed_error(group, err);
    return control_begin_call(group->transports.control, call, size, err);
}

/* Whether this member is the only one. Such a group exchanges no data, but numbers its calls like
 * any other group. */
static bool group_is_alone(const struct comm_group *group)
{
    return comm_group_size(group) == 1;
}

int comm_allreduce_sum_f32(struct comm_group *group, float *data, size_t count, struct err *err)
{
    int result = group_begin_call(group, CONTROL_CALL_ALLREDUCE, count * sizeof(float), err);
    if (result < 0 || group_is_alone(group))
        return result;
    return collective_allreduce_choose(&group->transports, count)
        ->run(&group->transports, NULL, data, count, err);
}

bool comm_allreduce_can(const struct comm_group *group,
                        const struct collective_allreduce *algorithm, size_t count)
{
    return group->transports.control && algorithm->can(&group->transports, count);
}

int comm_allreduce_with(struct comm_group *group, const struct collective_allreduce *algorithm,
                        float *data, size_t count, struct err *err)
{
    if (!group->transports.control)
        return group_unformed_error(group, err);
    if (!algorithm->can(&group->transports, count))
        return err_set(err, ERR_UNSUPPORTED, "all-reduce '%s' cannot be used here: it needs %s",
                       algorithm->name, algorithm->needs);
    int result = group_begin_call(group, CONTROL_CALL_ALLREDUCE, count * sizeof(float), err);
    if (result < 0 || group_is_alone(group))
        return result;
    return algorithm->run(&group->transports, NULL, data, count, err);
}

const struct collective_allreduce *comm_allreduce_choice(const struct comm_group *group,
                                                         size_t count)
{
    return collective_allreduce_choose(&group->transports, count);
}

bool comm_group_shares_memory(const struct comm_group *group)
{
    return collective_all_shared(&group->transports);
}

int comm_broadcast(struct comm_group *group, int root, void *data, size_t size, struct err *err)
{
    int result = group_begin_call(group, CONTROL_CALL_BROADCAST, size, err);
    if (result < 0 || group_is_alone(group))
        return result;
    return collective_broadcast(&group->transports, root, data, size, err);
}

int comm_allgather(struct comm_group *group, const void *own, size_t size, void *ret_all,
                   struct err *err)
{
    int result = group_begin_call(group, CONTROL_CALL_ALLGATHER, size, err);
    if (result < 0)
        return result;
    char *place = (char *)ret_all + (size_t)comm_group_rank(group) * size;
    if (place != own && size)
        memcpy(place, own, size);
    if (group_is_alone(group))
        return 0;
    return collective_allgather(&group->transports, size, ret_all, err);
}

int comm_barrier(struct comm_group *group, struct err *err)
{
    int result = group_begin_call(group, CONTROL_CALL_BARRIER, 0, err);
    if (result < 0 || group_is_alone(group))
        return result;
    return collective_barrier(&group->transports, err);
}
