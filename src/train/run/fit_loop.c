/* Implements the loop of synchronous training; see fit_loop.h. */
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

enum { GROUP_MAX = 512 }; /* size of the text that describes the group */

static bool is_writer(const struct fit_loop *loop)
{
    return loop->reducer->rank == 0 && loop->options->model_dir;
}

/* Sets the role of this worker in the log: only rank 0 shows progress and writes files. */
static void set_log_role(struct fit_loop *loop)
{
    run_log_set_role(loop->log, loop->reducer->rank == 0, loop->reducer->rank == 0);
}

static void log_lost_worker(struct fit_loop *loop, const struct err *loss)
{
    run_log_worker_lost(loop->log, "%s; %s", loss->message,
                        loop->reducer->elastic ? "the others go on"
                                               : "waiting until all workers are back");
}

static void describe_group(struct fit_loop *loop, char group[GROUP_MAX])
{
    snprintf(group, GROUP_MAX, "all workers");
    if (loop->reducer->describe)
        loop->reducer->describe(loop->reducer, group, GROUP_MAX);
}

/* Logs that the training goes on after the group has formed again. */
static void log_group(struct fit_loop *loop, uint64_t step)
{
    char group[GROUP_MAX];
    describe_group(loop, group);
    run_log_note(loop->log, "reformed", "going on after step %llu with %s",
                 (unsigned long long)step, group);
}

/* On workers other than rank 0, logs the group and the name of rank 0, which shows the progress.
 * `how` says what this worker does: "begins", "resumes", "joins the run" or "goes on". */
static void log_membership(struct fit_loop *loop, const char *how, uint64_t step)
{
    struct reducer *reducer = loop->reducer;
    char self[GROUP_MAX], first[GROUP_MAX], group[GROUP_MAX], after[64] = "";
    if (reducer->rank == 0 || !reducer->name)
        return;
    reducer->name(reducer, reducer->rank, self, sizeof(self));
    reducer->name(reducer, 0, first, sizeof(first));
    describe_group(loop, group);
    if (step)
        snprintf(after, sizeof(after), " after step %llu", (unsigned long long)step);
    run_log_note_process(loop->log, "member", "%s %s%s with %s; %s shows the progress", self, how,
                         after, group, first);
}

/* On workers other than rank 0, logs that the run is complete. */
static void log_member_end(struct fit_loop *loop, const struct fit_loop_result *result)
{
    struct reducer *reducer = loop->reducer;
    char self[GROUP_MAX];
    if (reducer->rank == 0 || !reducer->name || result->stopped)
        return;
    reducer->name(reducer, reducer->rank, self, sizeof(self));
    run_log_note_process(loop->log, "member", "%s has done its part: all %llu steps are done", self,
                         (unsigned long long)loop->steps);
}

/* Returns whether the result of a reducer's function means that a worker was lost or does not
 * answer. */
static bool is_loss(int result)
{
    return result == -ERR_UNAVAILABLE || result == -ERR_TIMEOUT;
}

/* Forms the group again, repeatedly if more workers are lost meanwhile, and brings all workers to
 * the same state (fit_agree()). `result` is the error because of which the group must form, or 0 if
 * workers join or leave. If the group cannot form and this worker is asked to stop, ends the run on
 * this worker and sets outcome->stopped. */
static int form_group(struct fit_loop *loop, int result, struct fit_loop_result *outcome,
                      struct err *err)
{
    struct reducer *reducer = loop->reducer;
    bool was_first = reducer->rank == 0, was_writer = is_writer(loop);
    struct err loss = ERR_INIT;
    do {
        if (result < 0 && err)
            loss = *err;
        if (result < 0)
            log_lost_worker(loop, &loss);
        result = reducer->reform(reducer, err);
        if (result == -ERR_TIMEOUT && !fit_leave_is_asked(loop))
            return result; /* too few workers joined within the timeout */
        if (result == 0 && loop->model->steps->regroup)
            result = loop->model->steps->regroup(loop->context, err);
        /* Unlocks the directory before fit_agree(), so that the new writer can lock it. */
        if (result == 0 && !is_writer(loop))
            fit_save_hand_over(loop);
        if (result == 0)
            result = fit_agree(loop, &outcome->last, err);
    } while (is_loss(result) && !fit_leave_is_asked(loop));
    if (result < 0 && fit_leave_is_asked(loop) && (is_loss(result) || result == -ERR_CANCELED))
        return fit_leave_alone(loop, was_writer || is_writer(loop), outcome, err);
    if (result < 0)
        return result;
    set_log_role(loop);
    if (is_writer(loop))
        fit_save_take_over(loop);
    if (loss.code && !was_first) /* was not shown before, because this worker was not rank 0 */
        log_lost_worker(loop, &loss);
    if (!loop->joined) {
        log_group(loop, outcome->last);
        log_membership(loop, "goes on", outcome->last);
    }
    return 0;
}

/* Called after a step or fit_leave_agree() has failed. A failed step has changed nothing on this
 * worker, but may have succeeded on other workers. If a worker was lost, forms the group again, or
 * ends the run on this worker if this worker was asked to stop. Otherwise returns the error. Saves
 * a checkpoint first, in case the lost workers do not come back, but not if the training has
 * diverged. An elastic group continues at once, so it saves in the background. */
static int recover_group(struct fit_loop *loop, int result, struct fit_loop_result *outcome,
                         struct err *err)
{
    if (result == -ERR_INVALID) /* diverged: the current state is useless, so it is not saved */
        return fit_save_advise(loop, err);
    if (is_loss(result) && fit_leave_is_asked(loop))
        return fit_leave_alone(loop, is_writer(loop), outcome, err);
    if (is_writer(loop) && outcome->last > outcome->first) {
        if (loop->reducer->elastic)
            (void)fit_save_put(loop, outcome->last, NULL);
        else
            (void)fit_save_now(loop, outcome->last, NULL);
    }
    if (!is_loss(result) || !loop->reducer->reform)
        return result;
    return form_group(loop, result, outcome, err);
}

/* Called after each step. If `last` is set, saves a checkpoint and waits until it is on disk.
 * Otherwise saves in the background after every checkpoint_every steps. Also logs the results of
 * earlier saves. */
static int save_step(struct fit_loop *loop, uint64_t step, bool last, struct err *err)
{
    fit_save_log_results(loop);
    if (last)
        return fit_save_now(loop, step, err);
    if (loop->options->checkpoint_every && step % loop->options->checkpoint_every == 0)
        return fit_save_put(loop, step, err);
    return 0;
}

/* Called after each successful step. Decides whether all workers continue, some leave, or the run
 * ends, and saves a checkpoint if one is due. If workers join or leave, forms the group again. */
static int end_step(struct fit_loop *loop, const struct fit_loop_step *done,
                    struct fit_loop_result *outcome, struct err *err)
{
    bool last = outcome->last == loop->steps, stop = done->stop && !last;
    enum fit_leave how = FIT_LEAVE_ALL;
    int result = stop ? fit_leave_agree(loop, &how, err) : 0;
    if (result < 0)
        return recover_group(loop, result, outcome, err);
    if (is_writer(loop))
        result = save_step(loop, outcome->last, last || (stop && how == FIT_LEAVE_ALL), err);
    if (result < 0 && result != -ERR_INVALID && last) {
        outcome->unsaved = err ? *err : (struct err){.code = (enum err_code) - result};
        return 0; /* writing the final model may still succeed */
    }
    if (result < 0)
        return result;
    if (stop && how == FIT_LEAVE_ALL)
        fit_leave_end_run(loop, outcome);
    if (stop && how == FIT_LEAVE_SELF)
        outcome->stopped = true;
    if ((stop && how == FIT_LEAVE_OTHERS) ||
        (done->join_requested && !last && loop->reducer->reform))
        return outcome->stopped ? 0 : form_group(loop, 0, outcome, err);
    return 0;
}

static int run_steps(struct fit_loop *loop, struct fit_loop_result *outcome, struct err *err)
{
    for (uint64_t step = outcome->first + 1; step <= loop->steps; step++) {
        struct fit_loop_step done = {.accuracy = (double)NAN};
        int result =
            loop->model->steps->step(loop->context, step, fit_leave_is_asked(loop), &done, err);
        if (result < 0) {
            result = recover_group(loop, result, outcome, err);
            if (result < 0)
                return err_wrap(err, "step %llu", (unsigned long long)step);
            if (outcome->stopped)
                return 0;
            step = outcome->last;
            continue;
        }
        outcome->last = step;
        outcome->loss = done.loss;
        run_log_step(loop->log, &(struct progress_step){.step = step,
                                                        .loss = done.loss,
                                                        .pictures = loop->batch,
                                                        .rate = (double)done.rate,
                                                        .accuracy = done.accuracy});
        result = end_step(loop, &done, outcome, err);
        if (result < 0 || outcome->stopped)
            return result;
        step = outcome->last;
    }
    return 0;
}

/* Starts the run after the group has formed for the first time. If the group breaks before all
 * workers have the same state, an elastic group forms again, and any other group fails. */
static int fit_loop_begin(struct fit_loop *loop, struct fit_loop_result *outcome, struct err *err)
{
    struct reducer *reducer = loop->reducer;
    set_log_role(loop);
    int result = reducer->share ? reducer->share(reducer, loop->params->gradients_memory, err) : 0;
    if (result == 0)
        result = fit_agree(loop, &outcome->last, err);
    if (result == 0 && is_writer(loop)) /* this worker may be new in a run that has begun */
        fit_save_take_over(loop);
    if (is_loss(result) && reducer->elastic)
        result = form_group(loop, result, outcome, err);
    outcome->first = outcome->last;
    return result;
}

int fit_loop_run(struct fit_loop *loop, struct fit_loop_result *ret, struct err *err)
{
    struct fit_loop_result outcome = {0};
    int result = fit_loop_begin(loop, &outcome, err);
    if (result == 0 && outcome.stopped)
        *ret = outcome;
    if (result < 0 || outcome.stopped) {
        loop->writer = checkpoint_writer_free(loop->writer);
        return result;
    }
    run_log_begin(loop->log, outcome.first, loop->steps);
    run_log_note(loop->log, "start", "%s", loop->start);
    if (loop->joined)
        log_group(loop, outcome.first);
    else if (outcome.first)
        run_log_note(loop->log, "resumed", "resumed after step %llu",
                     (unsigned long long)outcome.first);
    log_membership(loop,
                   loop->joined    ? "joins the run"
                   : outcome.first ? "resumes"
                                   : "begins",
                   outcome.first);
    loop->joined = false;
    if (outcome.first >= loop->steps)
        run_log_note(loop->log, "done",
                     "all %llu steps are done already: to train further, raise %s; to start again, "
                     "use another --model-dir",
                     (unsigned long long)loop->steps,
                     loop->model->length_option ? loop->model->length_option : "--steps");
    result = run_steps(loop, &outcome, err);
    loop->writer = checkpoint_writer_free(loop->writer);
    if (result == 0) {
        log_member_end(loop, &outcome);
        *ret = outcome;
    }
    return result;
}

int fit_loop_check_saved(const struct fit_loop_result *result, struct err *err)
{
    if (!result->unsaved.code)
        return 0;
    return err_set(err, result->unsaved.code,
                   "%s; the model itself was written, but a longer run cannot be resumed from it",
                   result->unsaved.message);
}

float *fit_loop_learned(const struct fit_loop *loop, size_t *ret_count)
{
    const struct model_steps *steps = loop->model->steps;
    *ret_count = 0;
    return steps->learned ? steps->learned(loop->context, ret_count) : NULL;
}
