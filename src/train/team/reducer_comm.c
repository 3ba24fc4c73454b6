/* Implements the reducer of several workers with comm; see reducer_comm.h. */
#include "train/team/reducer_comm.h"

#include "base/hash.h"
#include "base/mem.h"
#include "train/team/team.h"

#include <string.h>

static struct reducer_comm *reducer_comm_of(struct reducer *reducer)
{
    return CONTAINER_OF(reducer, struct reducer_comm, reducer);
}

static int reducer_comm_allreduce(struct reducer *reducer, float *data, size_t count,
                                  struct err *err)
{
    return comm_allreduce_sum_f32(reducer_comm_of(reducer)->group, data, count, err);
}

static int sum_in_background(void *context, float *data, size_t count, struct err *err)
{
    struct reducer_comm *self = context;
    return comm_allreduce_sum_f32(self->group, data, count, err);
}

static int reducer_comm_begin(struct reducer *reducer, float *data, size_t count, struct err *err)
{
    struct reducer_comm *self = reducer_comm_of(reducer);
    int result = self->queue ? 0 : reducer_queue_new(sum_in_background, self, &self->queue, err);
    if (result == 0)
        reducer_queue_put(self->queue, data, count);
    return result;
}

static int reducer_comm_finish(struct reducer *reducer, struct err *err)
{
    struct reducer_comm *self = reducer_comm_of(reducer);
    return self->queue ? reducer_queue_wait(self->queue, err) : 0;
}

static int reducer_comm_allgather(struct reducer *reducer, const float *own, size_t count,
                                  float *all, struct err *err)
{
    return comm_allgather(reducer_comm_of(reducer)->group, own, count * sizeof(*own), all, err);
}

static int reducer_comm_broadcast(struct reducer *reducer, int root, float *data, size_t count,
                                  struct err *err)
{
    return comm_broadcast(reducer_comm_of(reducer)->group, root, data, count * sizeof(*data), err);
}

/* Forms the group for the first time or again, and updates rank and size. */
static int reducer_comm_form(struct reducer_comm *self, struct err *err)
{
    /* Only the first call sets *joining. In later calls there may be steps to save. */
    bool first = !self->group && self->joining;
    if (first)
        *self->joining = 1;
    int result = self->group ? comm_group_reform(self->group, err)
                             : comm_group_open(&self->options, &self->group, err);
    if (first)
        *self->joining = 0;
    if (result < 0)
        return result;
    self->reducer.elastic = comm_group_is_elastic(self->group);
    self->reducer.rank = comm_group_rank(self->group);
    self->reducer.size = comm_group_size(self->group);
    /* `far` must be equal on all workers, because it decides which sums they request. */
    self->reducer.far = !comm_group_shares_memory(self->group);
    if (self->memory)
        result = comm_group_share(self->group, self->memory, err);
    return result;
}

static int reducer_comm_share(struct reducer *reducer, struct shared_memory *memory,
                              struct err *err)
{
    struct reducer_comm *self = reducer_comm_of(reducer);
    self->memory = memory;
    return comm_group_share(self->group, memory, err);
}

static int reducer_comm_reform(struct reducer *reducer, struct err *err)
{
    return reducer_comm_form(reducer_comm_of(reducer), err);
}

static void reducer_comm_settle(struct reducer *reducer)
{
    comm_group_settle(reducer_comm_of(reducer)->group);
}

static bool reducer_comm_join_requested(struct reducer *reducer)
{
    return comm_group_is_wanted(reducer_comm_of(reducer)->group);
}

static void reducer_comm_dismiss(struct reducer *reducer, int rank)
{
    comm_group_dismiss(reducer_comm_of(reducer)->group, rank);
}

static void reducer_comm_name(struct reducer *reducer, int rank, char *text, size_t size)
{
    comm_group_name(reducer_comm_of(reducer)->group, rank, text, size);
}

static void reducer_comm_describe(struct reducer *reducer, char *text, size_t size)
{
    comm_group_describe(reducer_comm_of(reducer)->group, text, size);
}

/* Returns a hash of the addresses of all tasks. Two runs at the same time cannot have the same
 * addresses. */
static uint64_t hash_tasks(const struct ty_tf_config *config)
{
    uint64_t hash = HASH_FNV_START;
    for (size_t i = 0; i < config->count; i++) {
        const struct ty_task *task = &config->tasks[i];
        _cleanup_free_ char *text =
            mem_printf("%d %d %s:%d\n", (int)task->role, task->index, task->host, task->port);
        hash = hash_fnv1a(hash, text, strlen(text));
    }
    return hash;
}

int reducer_comm_open(struct reducer_comm *reducer, const struct comm_options *options,
                      volatile sig_atomic_t *joining, struct err *err)
{
    *reducer = (struct reducer_comm){.options = *options, .joining = joining};
    reducer->reducer = (struct reducer){
        .allreduce = reducer_comm_allreduce,
        .begin = reducer_comm_begin,
        .finish = reducer_comm_finish,
        .rounds = options->wire == COMM_WIRE_BF16,
        .run = hash_tasks(options->config),
        .allgather = reducer_comm_allgather,
        .broadcast = reducer_comm_broadcast,
        .share = reducer_comm_share,
        .reform = reducer_comm_reform,
        .settle = reducer_comm_settle,
        .join_requested = reducer_comm_join_requested,
        .dismiss = reducer_comm_dismiss,
        .name = reducer_comm_name,
        .describe = reducer_comm_describe,
    };
    return reducer_comm_form(reducer, err);
}

void reducer_comm_close(struct reducer_comm *reducer)
{
    reducer->queue = reducer_queue_free(reducer->queue);
    reducer->group = comm_group_free(reducer->group);
}
