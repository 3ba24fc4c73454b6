/* The course of synchronous training; see fit_loop.h. */
#include "train/fit_loop.h"

#include "base/hash.h"
#include "base/mem.h"
#include "train/checkpoint_writer.h"
#include "train/fit_save.h"

#include <math.h>
#include <string.h>

static bool is_writer(const struct fit_loop *loop)
{
    return loop->reducer->rank == 0 && loop->model_dir;
}

static bool is_stopping(const struct fit_loop *loop)
{
    return loop->stop && *loop->stop;
}

/* All workers take over the state of the one that came farthest: at the start that is rank 0 with
 * its checkpoint, after a loss any that lived on. */
static int agree(struct fit_loop *loop, bool ready, uint64_t *step, struct err *err)
{
    enum { HALF = 20 }; /* bits of a step in one float, which holds 24 exactly */
    struct reducer *reducer = loop->reducer;
    float own[3] = {ready ? 1 : 0, (float)(*step >> HALF), (float)(*step & ((1 << HALF) - 1))};
    _cleanup_free_ float *all = mem_calloc((size_t)reducer->size * ARRAY_SIZE(own), sizeof(*all));
    int result = reducer->allgather(reducer, own, ARRAY_SIZE(own), all, err);
    if (result < 0)
        return result;
    int holder = 0;
    uint64_t farthest = 0;
    for (int rank = 0; rank < reducer->size; rank++) {
        const float *theirs = all + (size_t)rank * ARRAY_SIZE(own);
        uint64_t there = ((uint64_t)theirs[1] << HALF) + (uint64_t)theirs[2];
        if (theirs[0] == 0)
            return err_set(err, ERR_UNAVAILABLE, "the first worker cannot start; its log says why");
        if (there > farthest) {
            farthest = there;
            holder = rank;
        }
    }
    struct params *params = loop->params;
    struct optimizer *optimizer = loop->optimizer;
    size_t slots = (size_t)optimizer->slot_count * optimizer->floats;
    if (reducer->rank != holder) { /* so that the sum over all is what the holder has */
        memset(params->values, 0, params->floats * sizeof(float));
        memset(optimizer->slots, 0, slots * sizeof(float));
    }
    result = reducer->allreduce(reducer, params->values, params->floats, err);
    if (result == 0)
        result = reducer->allreduce(reducer, optimizer->slots, slots, err);
    if (result < 0)
        return result;
    loop->changed(loop->context);
    *step = farthest;
    return 0;
}

/* Rank 0 reads the newest checkpoint, and the others hear of it, also if that fails. */
static int resume(struct fit_loop *loop, uint64_t *ret_step, struct err *err)
{
    struct err problem = ERR_INIT;
    int restored = 0;
    uint64_t step = 0;
    if (is_writer(loop))
        restored = fit_save_restore(loop, &step, &problem);
    struct reducer *reducer = loop->reducer;
    int result = reducer->share ? reducer->share(reducer, loop->params->gradients_memory, err) : 0;
    if (result == 0)
        result = agree(loop, restored == 0, &step, err);
    if (restored < 0)
        return err_set(err, problem.code, "%s", problem.message);
    if (result == 0)
        *ret_step = step;
    return result;
}

/* A step that failed has changed nothing here, though it may have succeeded elsewhere. What was
 * done is saved, in case nobody comes back; then the workers find together and go on. */
static int recover(struct fit_loop *loop, int failed, struct fit_loop_result *result,
                   struct err *err)
{
    if (is_writer(loop) && result->last > result->first)
        (void)fit_save_now(loop, result->last, NULL);
    bool stopping = is_stopping(loop);
    while (failed == -ERR_UNAVAILABLE && loop->reducer->reform && !stopping) {
        run_log_lost(loop->log, "%s; waiting for all workers to be there again", err->message);
        failed = loop->reducer->reform(loop->reducer, err);
        if (failed == 0)
            failed = agree(loop, true, &result->last, err);
        stopping = is_stopping(loop);
    }
    if (failed == 0)
        run_log_note(loop->log, "reformed", "all workers are there; going on after step %llu",
                     (unsigned long long)result->last);
    return failed;
}

/* After a step: who asked to end has it on disk before the run does, else it may take its time. */
static int save(struct fit_loop *loop, uint64_t step, bool last, struct err *err)
{
    fit_save_tell(loop);
    if (last)
        return fit_save_now(loop, step, err);
    if (loop->checkpoint_every && step % loop->checkpoint_every == 0)
        fit_save_put(loop, step);
    return 0;
}

static int run_steps(struct fit_loop *loop, struct fit_loop_result *result, struct err *err)
{
    for (uint64_t step = result->first + 1; step <= loop->steps; step++) {
        struct fit_loop_step done = {.accuracy = (double)NAN};
        int failed = loop->step(loop->context, step, is_stopping(loop), &done, err);
        if (failed < 0) {
            failed = recover(loop, failed, result, err);
            if (failed < 0)
                return err_wrap(err, "step %llu", (unsigned long long)step);
            step = result->last;
            continue;
        }
        result->last = step;
        result->loss = done.loss;
        run_log_step(loop->log, &(struct progress_step){.step = step,
                                                        .loss = done.loss,
                                                        .pictures = loop->batch,
                                                        .rate = (double)done.rate,
                                                        .accuracy = done.accuracy});
        failed = is_writer(loop) ? save(loop, step, done.stop || step == loop->steps, err) : 0;
        if (failed < 0)
            return failed;
        if (done.stop && step < loop->steps) {
            result->stopped = true;
            run_log_note(loop->log, "stopped",
                         loop->model_dir
                             ? "stopped after step %llu; the next run goes on from there"
                             : "stopped after step %llu",
                         (unsigned long long)step);
            return 0;
        }
    }
    return 0;
}

int fit_loop_run(struct fit_loop *loop, struct fit_loop_result *ret, struct err *err)
{
    struct fit_loop_result result = {0};
    run_log_speak(loop->log, loop->reducer->rank == 0, loop->reducer->rank == 0);
    int failed = resume(loop, &result.first, err);
    if (failed < 0)
        return failed;
    result.last = result.first;
    run_log_begin(loop->log, result.first, loop->steps);
    run_log_note(loop->log, "start", "%s", loop->start);
    if (result.first)
        run_log_note(loop->log, "resumed", "resumed after step %llu",
                     (unsigned long long)result.first);
    if (result.first >= loop->steps)
        run_log_note(loop->log, "done",
                     "all %llu steps were done before: to train further raise --steps, to train "
                     "anew use another --model-dir",
                     (unsigned long long)loop->steps);
    failed = run_steps(loop, &result, err);
    loop->writer = checkpoint_writer_free(loop->writer);
    if (failed == 0)
        *ret = result;
    return failed;
}

uint64_t fit_loop_hash(const uint64_t *numbers, size_t count)
{
    uint64_t hash = HASH_FNV_START;
    for (size_t i = 0; i < count; i++) {
        unsigned char bytes[8]; /* the same on every machine */
        for (int j = 0; j < 8; j++)
            bytes[j] = (unsigned char)(numbers[i] >> 8 * j);
        hash = hash_fnv1a(hash, bytes, sizeof(bytes));
    }
    return hash;
}

uint64_t fit_loop_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}
