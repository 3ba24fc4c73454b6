/* The course of synchronous training; see fit_loop.h. */
#include "train/run/fit_loop.h"

#include "base/mem.h"
#include "train/run/checkpoint_writer.h"
#include "train/run/fit_agree.h"
#include "train/run/fit_leave.h"
#include "train/run/fit_save.h"
#include "train/run/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GROUP_MAX = 512 }; /* who is in it, as a text */

static bool is_writer(const struct fit_loop *loop)
{
    return loop->reducer->rank == 0 && loop->options->model_dir;
}

/* Whoever is rank 0 now speaks and writes. */
static void take_role(struct fit_loop *loop)
{
    run_log_speak(loop->log, loop->reducer->rank == 0, loop->reducer->rank == 0);
}

static void tell_loss(struct fit_loop *loop, const struct err *loss)
{
    run_log_lost(loop->log, "%s; %s", loss->message,
                 loop->reducer->elastic ? "the others go on"
                                        : "waiting for all workers to be there again");
}

static void describe_group(struct fit_loop *loop, char who[GROUP_MAX])
{
    snprintf(who, GROUP_MAX, "all workers");
    if (loop->reducer->describe)
        loop->reducer->describe(loop->reducer, who, GROUP_MAX);
}

static void tell_group(struct fit_loop *loop, uint64_t step)
{
    char who[GROUP_MAX];
    describe_group(loop, who);
    run_log_note(loop->log, "reformed", "going on after step %llu with %s",
                 (unsigned long long)step, who);
}

/* The log of a worker that does not speak for the run says at least what it is part of, and who
 * does: `how` is "begins", for example. */
static void tell_own(struct fit_loop *loop, const char *how, uint64_t step)
{
    struct reducer *reducer = loop->reducer;
    char self[GROUP_MAX], first[GROUP_MAX], who[GROUP_MAX], after[64] = "";
    if (reducer->rank == 0 || !reducer->name)
        return;
    reducer->name(reducer, reducer->rank, self, sizeof(self));
    reducer->name(reducer, 0, first, sizeof(first));
    describe_group(loop, who);
    if (step)
        snprintf(after, sizeof(after), " after step %llu", (unsigned long long)step);
    run_log_own(loop->log, "member", "%s %s%s with %s; progress is told by %s", self, how, after,
                who, first);
}

static void tell_own_end(struct fit_loop *loop, const struct fit_loop_result *result)
{
    struct reducer *reducer = loop->reducer;
    char self[GROUP_MAX];
    if (reducer->rank == 0 || !reducer->name || result->stopped)
        return;
    reducer->name(reducer, reducer->rank, self, sizeof(self));
    run_log_own(loop->log, "member", "%s has done its part: all %llu steps are done", self,
                (unsigned long long)loop->steps);
}

/* A member is lost, or does not answer any more: see comm_group_broken(). */
static bool is_loss(int failed)
{
    return failed == -ERR_UNAVAILABLE || failed == -ERR_TIMEOUT;
}

/* Form the group anew, as often as it takes, and go on together after the last step of the one that
 * came farthest. It is not waited for once it was asked to end: `result` says so. */
static int regroup(struct fit_loop *loop, int failed, struct fit_loop_result *result,
                   struct err *err)
{
    struct reducer *reducer = loop->reducer;
    bool spoke = reducer->rank == 0, wrote = is_writer(loop);
    struct err loss = ERR_INIT;
    do {
        if (failed < 0 && err)
            loss = *err;
        if (failed < 0)
            tell_loss(loop, &loss);
        failed = reducer->reform(reducer, err);
        if (failed == -ERR_TIMEOUT && !fit_leave_is_asked(loop))
            return failed; /* nobody came in the time there is for it */
        if (failed == 0 && loop->model->steps->regroup)
            failed = loop->model->steps->regroup(loop->context, err);
        if (failed == 0 && !is_writer(loop)) /* once all agree, who writes now can claim it */
            fit_save_hand_over(loop);
        if (failed == 0)
            failed = fit_agree(loop, &result->last, err);
    } while (is_loss(failed) && !fit_leave_is_asked(loop));
    if (failed < 0 && fit_leave_is_asked(loop) && (is_loss(failed) || failed == -ERR_CANCELED))
        return fit_leave_alone(loop, wrote || is_writer(loop), result, err);
    if (failed < 0)
        return failed;
    take_role(loop);
    if (is_writer(loop))
        fit_save_take_over(loop);
    if (loss.code && !spoke) /* the one that spoke before may have been the one that was lost */
        tell_loss(loop, &loss);
    if (!loop->joined) {
        tell_group(loop, result->last);
        tell_own(loop, "goes on", result->last);
    }
    return 0;
}

/* A step that failed has changed nothing here, though it may have succeeded elsewhere. What was
 * done is saved, in case nobody comes back; where the others go on at once, in the background. */
static int recover(struct fit_loop *loop, int failed, struct fit_loop_result *result,
                   struct err *err)
{
    if (failed == -ERR_INVALID) /* older checkpoints are worth more */
        return fit_save_advise(loop, err);
    if (is_loss(failed) && fit_leave_is_asked(loop))
        return fit_leave_alone(loop, is_writer(loop), result, err);
    if (is_writer(loop) && result->last > result->first) {
        if (loop->reducer->elastic)
            (void)fit_save_put(loop, result->last, NULL);
        else
            (void)fit_save_now(loop, result->last, NULL);
    }
    if (!is_loss(failed) || !loop->reducer->reform)
        return failed;
    return regroup(loop, failed, result, err);
}

/* After a step: who asked to end has it on disk before the run does, else it may take its time. */
static int save(struct fit_loop *loop, uint64_t step, bool last, struct err *err)
{
    fit_save_tell(loop);
    if (last)
        return fit_save_now(loop, step, err);
    if (loop->options->checkpoint_every && step % loop->options->checkpoint_every == 0)
        return fit_save_put(loop, step, err);
    return 0;
}

/* Whether all go on as they are, some without others, or nobody does. */
static int end_step(struct fit_loop *loop, const struct fit_loop_step *done,
                    struct fit_loop_result *result, struct err *err)
{
    bool last = result->last == loop->steps, stop = done->stop && !last;
    enum fit_leave how = FIT_LEAVE_ALL;
    int failed = stop ? fit_leave_agree(loop, &how, err) : 0;
    if (failed < 0)
        return recover(loop, failed, result, err);
    if (is_writer(loop))
        failed = save(loop, result->last, last || (stop && how == FIT_LEAVE_ALL), err);
    if (failed < 0 && failed != -ERR_INVALID && last) {
        result->unsaved = err ? *err : (struct err){.code = (enum err_code) - failed};
        return 0; /* the model itself may find room */
    }
    if (failed < 0)
        return failed;
    if (stop && how == FIT_LEAVE_ALL)
        fit_leave_tell(loop, result);
    if (stop && how == FIT_LEAVE_SELF)
        result->stopped = true;
    if ((stop && how == FIT_LEAVE_OTHERS) || (done->wanted && !last && loop->reducer->reform))
        return result->stopped ? 0 : regroup(loop, 0, result, err);
    return 0;
}

static int run_steps(struct fit_loop *loop, struct fit_loop_result *result, struct err *err)
{
    for (uint64_t step = result->first + 1; step <= loop->steps; step++) {
        struct fit_loop_step done = {.accuracy = (double)NAN};
        int failed =
            loop->model->steps->step(loop->context, step, fit_leave_is_asked(loop), &done, err);
        if (failed < 0) {
            failed = recover(loop, failed, result, err);
            if (failed < 0)
                return err_wrap(err, "step %llu", (unsigned long long)step);
            if (result->stopped)
                return 0;
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
        failed = end_step(loop, &done, result, err);
        if (failed < 0 || result->stopped)
            return failed;
        step = result->last;
    }
    return 0;
}

/* The first forming has been made. One that breaks before all have a common state is made again. */
static int begin(struct fit_loop *loop, struct fit_loop_result *result, struct err *err)
{
    struct reducer *reducer = loop->reducer;
    take_role(loop);
    int failed = reducer->share ? reducer->share(reducer, loop->params->gradients_memory, err) : 0;
    if (failed == 0)
        failed = fit_agree(loop, &result->last, err);
    if (failed == 0 && is_writer(loop)) /* the others may have been at it without this one */
        fit_save_take_over(loop);
    if (is_loss(failed) && reducer->elastic)
        failed = regroup(loop, failed, result, err);
    result->first = result->last;
    return failed;
}

int fit_loop_run(struct fit_loop *loop, struct fit_loop_result *ret, struct err *err)
{
    struct fit_loop_result result = {0};
    int failed = begin(loop, &result, err);
    if (failed == 0 && result.stopped)
        *ret = result;
    if (failed < 0 || result.stopped) {
        loop->writer = checkpoint_writer_free(loop->writer);
        return failed;
    }
    run_log_begin(loop->log, result.first, loop->steps);
    run_log_note(loop->log, "start", "%s", loop->start);
    if (loop->joined)
        tell_group(loop, result.first);
    else if (result.first)
        run_log_note(loop->log, "resumed", "resumed after step %llu",
                     (unsigned long long)result.first);
    tell_own(loop,
             loop->joined   ? "joins the run"
             : result.first ? "resumes"
                            : "begins",
             result.first);
    loop->joined = false;
    if (result.first >= loop->steps)
        run_log_note(loop->log, "done",
                     "all %llu steps were done before: to train further raise %s, to train "
                     "anew use another --model-dir",
                     (unsigned long long)loop->steps,
                     loop->model->longer ? loop->model->longer : "--steps");
    failed = run_steps(loop, &result, err);
    loop->writer = checkpoint_writer_free(loop->writer);
    if (failed == 0) {
        tell_own_end(loop, &result);
        *ret = result;
    }
    return failed;
}

int fit_loop_check_saved(const struct fit_loop_result *result, struct err *err)
{
    if (!result->unsaved.code)
        return 0;
    return err_set(err, result->unsaved.code,
                   "%s; the model itself was written, but a longer run cannot go on from it",
                   result->unsaved.message);
}

float *fit_loop_learned(const struct fit_loop *loop, size_t *ret_count)
{
    const struct model_steps *steps = loop->model->steps;
    *ret_count = 0;
    return steps->learned ? steps->learned(loop->context, ret_count) : NULL;
}
