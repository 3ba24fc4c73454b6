/* Implements <trainyard/comm.h> and <trainyard/tf_config.h>: wraps the functions of src/comm and
 * converts their errors to the public error object. */
#include "comm/public.h"
#include "base/mem.h"
#include "base/str.h"
#include "comm/cluster/tf_config.h"
#include "comm/group/group.h"
#include "comm/transport/shared_memory.h"

#include <trainyard/comm.h>

#include <string.h>

struct ty_comm {
    struct comm_group *group;
    struct shared_memory **memories;
    size_t memory_count;
};

static enum ty_error_code public_code(enum err_code code)
{
    switch (code) {
    case ERR_NONE:
        return TY_OK;
    case ERR_INTERNAL:
        return TY_ERROR_DEFECT;
    case ERR_UNAUTHORIZED:
    case ERR_FORBIDDEN:
        return TY_ERROR_FORBIDDEN;
    case ERR_TIMEOUT:
        return TY_ERROR_TIMEOUT;
    case ERR_UNAVAILABLE:
        return TY_ERROR_UNAVAILABLE;
    case ERR_UNSUPPORTED:
        return TY_ERROR_UNSUPPORTED;
    case ERR_IO:
        return TY_ERROR_SYSTEM;
    default:
        return TY_ERROR_INVALID;
    }
}

int comm_public_answer(int result, const struct err *err, struct ty_error *error)
{
    if (result == 0)
        return 0;
    enum ty_error_code code = public_code(err->code);
    if (error) {
        error->code = code;
        str_copy(error->message, sizeof(error->message), err->message);
    }
    return -(int)code;
}

int ty_tf_config_parse(const char *text, struct ty_tf_config **ret, struct ty_error *error)
{
    struct err err = ERR_INIT;
    return comm_public_answer(tf_config_parse(text, strlen(text), ret, &err), &err, error);
}

int ty_tf_config_from_flags(const char *ps_hosts, const char *worker_hosts, const char *job_name,
                            int task_index, struct ty_tf_config **ret, struct ty_error *error)
{
    struct err err = ERR_INIT;
    return comm_public_answer(
        tf_config_from_flags(ps_hosts, worker_hosts, job_name, task_index, ret, &err), &err, error);
}

int ty_tf_config_from_environment(struct ty_tf_config **ret, struct ty_error *error)
{
    struct err err = ERR_INIT;
    return comm_public_answer(tf_config_from_process_environment(ret, &err), &err, error);
}

int ty_comm_open(const struct ty_tf_config *config, const struct ty_comm_options *options,
                 struct ty_comm **ret, struct ty_error *error)
{
    const struct ty_comm_options none = {0};
    if (!options)
        options = &none;
    const struct comm_options inner = {
        .config = config,
        .shape = options->shape,
        .secret = options->secret,
        .encrypt = options->encrypt != 0,
        .channels = options->channels,
        .transport = options->transport == TY_COMM_TCP ? COMM_TRANSPORT_TCP : COMM_TRANSPORT_AUTO,
        .wire = options->wire == TY_COMM_BF16 ? COMM_WIRE_BF16 : COMM_WIRE_F32,
        .join_timeout_ms = options->join_timeout_ms,
        .timeout_ms = options->timeout_ms,
        .report_ms = options->report_ms,
        .report = options->report,
        .context = options->context,
        .min_members = options->min_members,
        .peer_timeout_ms = options->peer_timeout_ms,
    };
    struct err err = ERR_INIT;
    struct comm_group *group;
    int result = comm_group_open(&inner, &group, &err);
    if (result < 0)
        return comm_public_answer(result, &err, error);
    struct ty_comm *comm = mem_zalloc(sizeof(*comm));
    comm->group = group;
    *ret = comm;
    return 0;
}

void ty_comm_close(struct ty_comm *comm)
{
    if (!comm)
        return;
    comm_group_free(comm->group);
    for (size_t i = 0; i < comm->memory_count; i++)
        shared_memory_free(comm->memories[i]);
    free(comm->memories);
    free(comm);
}

int ty_comm_reform(struct ty_comm *comm, struct ty_error *error)
{
    struct err err = ERR_INIT;
    int result = comm_group_reform(comm->group, &err);
    for (size_t i = 0; result == 0 && i < comm->memory_count; i++)
        result = comm_group_share(comm->group, comm->memories[i], &err);
    return comm_public_answer(result, &err, error);
}

void ty_comm_settle(struct ty_comm *comm)
{
    comm_group_settle(comm->group);
}

int ty_comm_wanted(struct ty_comm *comm)
{
    return comm_group_is_wanted(comm->group) ? 1 : 0;
}

int ty_comm_rank(const struct ty_comm *comm)
{
    return comm_group_rank(comm->group);
}

int ty_comm_size(const struct ty_comm *comm)
{
    return comm_group_size(comm->group);
}

enum ty_comm_broken ty_comm_broken(const struct ty_comm *comm)
{
    switch (comm_group_broken(comm->group)) {
    case COMM_BROKEN_PEER:
        return TY_COMM_BROKEN_PEER;
    case COMM_BROKEN_GROUP:
        return TY_COMM_BROKEN_GROUP;
    default:
        return TY_COMM_BROKEN_MESSAGE;
    }
}

int ty_comm_allocate(struct ty_comm *comm, size_t size, void **ret, struct ty_error *error)
{
    struct err err = ERR_INIT;
    _cleanup_(cleanup_shared_memory) struct shared_memory *memory = NULL;
    int result = shared_memory_new("trainyard", size, &memory, &err);
    if (result == 0)
        result = comm_group_share(comm->group, memory, &err);
    if (result < 0)
        return comm_public_answer(result, &err, error);
    comm->memories =
        mem_realloc(comm->memories, (comm->memory_count + 1) * sizeof(*comm->memories));
    *ret = memory->at;
    comm->memories[comm->memory_count++] = TAKE(memory);
    return 0;
}

int ty_comm_allreduce_sum_f32(struct ty_comm *comm, float *data, size_t count,
                              struct ty_error *error)
{
    struct err err = ERR_INIT;
    return comm_public_answer(comm_allreduce_sum_f32(comm->group, data, count, &err), &err, error);
}

int ty_comm_broadcast(struct ty_comm *comm, int root, void *data, size_t size,
                      struct ty_error *error)
{
    struct err err = ERR_INIT;
    int members = comm_group_size(comm->group);
    int result = root >= 0 && root < members
                     ? comm_broadcast(comm->group, root, data, size, &err)
                     : err_set(&err, ERR_INVALID,
                               "cannot broadcast from rank %d: the ranks of this group are 0 to %d",
                               root, members - 1);
    return comm_public_answer(result, &err, error);
}

int ty_comm_allgather(struct ty_comm *comm, const void *own, size_t size, void *ret_all,
                      struct ty_error *error)
{
    struct err err = ERR_INIT;
    return comm_public_answer(comm_allgather(comm->group, own, size, ret_all, &err), &err, error);
}

int ty_comm_barrier(struct ty_comm *comm, struct ty_error *error)
{
    struct err err = ERR_INIT;
    return comm_public_answer(comm_barrier(comm->group, &err), &err, error);
}
