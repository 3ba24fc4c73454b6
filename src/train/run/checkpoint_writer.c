/* Implements the thread that writes checkpoints; see checkpoint_writer.h. */
#include "train/run/checkpoint_writer.h"

#include "base/mem.h"
#include "base/system/thread.h"

#include <pthread.h>
#include <string.h>

/* The training thread owns snapshots that are FREE or FILLING. The writer thread owns a snapshot
 * that is WRITING. To take a WAITING snapshot, a thread changes its state under the lock. */
enum snapshot_state { SNAPSHOT_FREE, SNAPSHOT_FILLING, SNAPSHOT_WAITING, SNAPSHOT_WRITING };

struct snapshot {
    enum snapshot_state state;
    struct params params;       /* values: a copy; entries: not a copy, owned by the caller */
    struct optimizer optimizer; /* slots: a copy */
    struct checkpoint_info info;
    struct arena *arena; /* memory of `info` */
    float *memory;       /* memory of the copied values and slots */
    size_t floats;       /* size of `memory` */
};

struct checkpoint_writer {
    char *directory;
    size_t keep;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* the state of a snapshot, or `ending`, has changed */
    bool ending;            /* the thread must end when no snapshot is waiting */
    struct snapshot snapshots[2];
    struct checkpoint_writer_report report; /* the results since the previous poll */
    struct err last;                        /* error of the latest write; code 0 if it succeeded */
};

static struct snapshot *find_snapshot(struct checkpoint_writer *writer, enum snapshot_state state)
{
    for (size_t i = 0; i < ARRAY_SIZE(writer->snapshots); i++)
        if (writer->snapshots[i].state == state)
            return &writer->snapshots[i];
    return NULL;
}

/* ---- The writer thread */

/* Writes a snapshot and removes old checkpoints. The lock must not be held. */
static void write_snapshot(const struct checkpoint_writer *writer, const struct snapshot *snapshot,
                           struct err *ret_write_error, struct err *ret_prune_error)
{
    char path[CHECKPOINT_PATH_MAX];
    checkpoint_path(writer->directory, snapshot->info.step, path);
    if (checkpoint_write(path, &snapshot->params, &snapshot->optimizer, &snapshot->info,
                         ret_write_error) == 0)
        (void)checkpoint_prune(writer->directory, writer->keep, ret_prune_error);
}

/* Records the result of a write. The lock must be held. */
static void record_result(struct checkpoint_writer *writer, uint64_t step,
                          const struct err *write_error, const struct err *prune_error)
{
    writer->last = *write_error;
    if (write_error->code) {
        writer->report.failed++;
        writer->report.error = *write_error;
        return;
    }
    writer->report.written++;
    writer->report.last_step = step;
    if (prune_error->code)
        writer->report.prune_error = *prune_error;
}

static void *run_writer(void *context)
{
    struct checkpoint_writer *writer = context;
    pthread_mutex_lock(&writer->lock);
    for (;;) {
        struct snapshot *snapshot = find_snapshot(writer, SNAPSHOT_WAITING);
        if (!snapshot && writer->ending)
            break;
        if (!snapshot) {
            pthread_cond_wait(&writer->changed, &writer->lock);
            continue;
        }
        struct err write_error = ERR_INIT, prune_error = ERR_INIT;
        snapshot->state = SNAPSHOT_WRITING;
        pthread_mutex_unlock(&writer->lock);
        write_snapshot(writer, snapshot, &write_error, &prune_error);
        pthread_mutex_lock(&writer->lock);
        snapshot->state = SNAPSHOT_FREE;
        record_result(writer, snapshot->info.step, &write_error, &prune_error);
        pthread_cond_broadcast(&writer->changed);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

/* ---- The training thread */

int checkpoint_writer_new(const char *directory, size_t keep, struct checkpoint_writer **ret,
                          struct err *err)
{
    struct checkpoint_writer *writer = mem_zalloc(sizeof(*writer));
    writer->directory = mem_strdup(directory);
    writer->keep = keep;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->changed, NULL);
    int result = thread_start(&writer->thread, "checkpoints", "the thread that writes checkpoints",
                              run_writer, writer, err);
    if (result < 0) {
        free(writer->directory);
        free(writer);
        return result;
    }
    *ret = writer;
    return 0;
}

struct checkpoint_writer *checkpoint_writer_free(struct checkpoint_writer *writer)
{
    if (!writer)
        return NULL;
    pthread_mutex_lock(&writer->lock);
    writer->ending = true;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    for (size_t i = 0; i < ARRAY_SIZE(writer->snapshots); i++) {
        arena_free(writer->snapshots[i].arena);
        free(writer->snapshots[i].memory);
    }
    pthread_cond_destroy(&writer->changed);
    pthread_mutex_destroy(&writer->lock);
    free(writer->directory);
    free(writer);
    return NULL;
}

static void fill_snapshot(struct snapshot *snapshot, const struct params *params,
                          const struct optimizer *optimizer, const struct checkpoint_info *info)
{
    size_t values = params->floats, slots = values * (size_t)optimizer->slot_count;
    if (snapshot->floats < values + slots) {
        free(snapshot->memory);
        snapshot->memory = mem_calloc(values + slots, sizeof(float));
        snapshot->floats = values + slots;
    }
    memcpy(snapshot->memory, params->values, values * sizeof(float));
    memcpy(snapshot->memory + values, optimizer->slots, slots * sizeof(float));
    snapshot->params = *params;
    snapshot->params.values = snapshot->memory;
    snapshot->optimizer = *optimizer;
    snapshot->optimizer.slots = snapshot->memory + values;

    arena_free(snapshot->arena);
    snapshot->arena = arena_new();
    snapshot->info = *info;
    snapshot->info.model = arena_strdup(snapshot->arena, info->model);
    snapshot->info.config = json_clone(snapshot->arena, info->config);
    snapshot->info.notes = info->notes ? json_clone(snapshot->arena, info->notes) : NULL;
}

void checkpoint_writer_put(struct checkpoint_writer *writer, const struct params *params,
                           const struct optimizer *optimizer, const struct checkpoint_info *info)
{
    pthread_mutex_lock(&writer->lock);
    struct snapshot *snapshot = find_snapshot(writer, SNAPSHOT_WAITING);
    if (snapshot)
        writer->report.replaced++;
    else
        /* One of the two is free, because at most one is being written. */
        snapshot = find_snapshot(writer, SNAPSHOT_FREE);
    snapshot->state = SNAPSHOT_FILLING;
    pthread_mutex_unlock(&writer->lock);
    fill_snapshot(snapshot, params, optimizer, info);
    pthread_mutex_lock(&writer->lock);
    snapshot->state = SNAPSHOT_WAITING;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
}

void checkpoint_writer_poll(struct checkpoint_writer *writer, struct checkpoint_writer_report *ret)
{
    pthread_mutex_lock(&writer->lock);
    *ret = writer->report;
    writer->report = (struct checkpoint_writer_report){.last_step = ret->last_step};
    pthread_mutex_unlock(&writer->lock);
}

int checkpoint_writer_drain(struct checkpoint_writer *writer, struct err *err)
{
    int result = 0;
    pthread_mutex_lock(&writer->lock);
    while (find_snapshot(writer, SNAPSHOT_WAITING) || find_snapshot(writer, SNAPSHOT_WRITING))
        pthread_cond_wait(&writer->changed, &writer->lock);
    if (writer->last.code) {
        result = -(int)writer->last.code;
        if (err)
            *err = writer->last;
    }
    pthread_mutex_unlock(&writer->lock);
    return result;
}
