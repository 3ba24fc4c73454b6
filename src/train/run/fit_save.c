/* Implements reading and writing of the checkpoints of a synchronous run; see fit_save.h. */
#include "train/run/fit_save.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "train/run/checkpoint_writer.h"
#include "train/run/model.h"
#include "train/run/model_dir.h"

#include <math.h>
#include <unistd.h>

static bool is_finite(const float *values, size_t count)
{
    bool finite = true;
    for (size_t i = 0; i < count; i++)
        finite &= isfinite(values[i]) != 0;
    return finite;
}

/* Like checkpoint_read(), but a checkpoint with values that are not finite, of a diverged run,
 * counts as damaged. */
static int read_finite(const char *path, struct checkpoint **ret, struct err *err)
{
    int result = checkpoint_read(path, ret, err);
    if (result < 0 || is_finite((*ret)->values, (*ret)->floats * (size_t)(1 + (*ret)->slot_count)))
        return result;
    *ret = checkpoint_free(*ret);
    return err_set(err, ERR_BAD_REQUEST, "'%s' holds values that are nan or infinite", path);
}

/* Reads the newest usable checkpoint and sets its path. Does not change *ret if there is none. A
 * damaged checkpoint is logged, renamed and skipped. Any other failure is an error, because
 * progress must not be lost silently. */
static int read_newest(struct fit_loop *loop, const uint64_t *steps, size_t count,
                       struct checkpoint **ret, char path[CHECKPOINT_PATH_MAX], struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        struct err problem = ERR_INIT;
        checkpoint_path(loop->options->model_dir, steps[i], path);
        int result = read_finite(path, ret, &problem);
        if (result == 0)
            return 0;
        if (result == -ERR_BAD_REQUEST) {
            run_log_note(loop->log, "warning", "%s; looking for an older one", problem.message);
            result = checkpoint_set_aside(loop->options->model_dir, steps[i], &problem);
        }
        if (result < 0) {
            if (err)
                *err = problem;
            return err_wrap(err, "cannot resume");
        }
    }
    if (count)
        run_log_note(loop->log, "warning",
                     "no checkpoint in '%s' can be used: training starts from the beginning",
                     loop->options->model_dir);
    return 0;
}

/* Returns the notes of a checkpoint: the learned floats, the kept options and the facts of the
 * model. Without the learned floats, the last bits of the results after a resume would differ from
 * an uninterrupted run. */
static struct json *notes_of(struct fit_loop *loop, struct arena *arena)
{
    size_t count = 0;
    const float *learned = fit_loop_learned(loop, &count);
    struct json *notes = json_object(arena), *list = json_array(arena);
    for (size_t i = 0; i < count; i++)
        json_append(list, json_real(arena, (double)learned[i]));
    json_set(arena, notes, "learned", list);
    if (loop->options->kept)
        json_set(arena, notes, "kept", json_clone(arena, loop->options->kept));
    if (loop->model->steps->note)
        loop->model->steps->note(loop->context, arena, notes);
    return notes;
}

/* Restores the learned floats from the notes. Does nothing if the notes do not have as many floats
 * as the model, as in checkpoints of older versions. */
static void restore_notes(struct fit_loop *loop, const struct json *notes)
{
    size_t count = 0;
    float *learned = fit_loop_learned(loop, &count);
    const struct json *list = json_get(notes, "learned");
    if (!learned || json_count(list) != count)
        return;
    JSON_EACH (value, list)
        *learned++ = (float)json_number(value, 0);
}

static const char *plain_value(struct arena *arena, const struct json *value)
{
    const char *text = json_text(value);
    return text ? text : json_to_string(arena, value);
}

/* Returns an error if an option that must not change differs from the checkpoint. With a different
 * value the evaluation could use samples that the model was trained on. An option that the
 * checkpoint does not have is not compared, because older versions did not write it. */
static int check_kept(const struct fit_loop *loop, const struct checkpoint *checkpoint,
                      const char *path, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json *theirs = json_get(checkpoint->info.notes, "kept");
    JSON_EACH (ours, loop->options->kept) {
        const struct json *then = json_get(theirs, ours->name);
        if (!then || json_equal(then, ours))
            continue;
        bool data = str_eq(ours->name, "data");
        const char *was = plain_value(arena, then);
        return err_set(
            err, ERR_USAGE,
            "'%s' was trained with --%s %s%s, but this run has %s: use another --model-dir, "
            "or %s%s%s again",
            path, ours->name, data ? "of " : "", was, plain_value(arena, ours),
            data ? "the same data" : "--", data ? "" : ours->name,
            data ? "" : arena_printf(arena, " %s", was));
    }
    return 0;
}

/* Creates the directory and locks it if loop->claim is set. If the file system has no locks, logs a
 * warning and returns 0. */
static int claim_directory(struct fit_loop *loop, struct err *err)
{
    struct err problem = ERR_INIT;
    if (!loop->claim)
        return file_make_dirs(loop->options->model_dir, 0755, err);
    if (*loop->claim >= 0)
        return 0;
    int result =
        model_dir_claim(loop->options->model_dir, loop->reducer->run, loop->claim, &problem);
    if (result > 0)
        run_log_note(loop->log, "warning", "%s", problem.message);
    if (result < 0 && err)
        *err = problem;
    return result < 0 ? result : 0;
}

/* Locks the directory during the training, if this worker does not have the lock. It is no error if
 * another worker of this run still has the lock. That worker is suspended or about to exit, and a
 * checkpoint that it still writes has the same contents as the checkpoint of this worker for the
 * same step. */
static int claim_during_run(struct fit_loop *loop, struct err *err)
{
    struct err problem = ERR_INIT;
    if (!loop->claim || *loop->claim >= 0)
        return 0;
    int result = claim_directory(loop, &problem);
    if (result == -ERR_CONFLICT &&
        model_dir_is_of_run(loop->options->model_dir, loop->reducer->run)) {
        if (!loop->warned_shared_dir)
            run_log_note(loop->log, "warning",
                         "another worker of this run, which has not exited, still holds the lock "
                         "on '%s': checkpoints are written anyway",
                         loop->options->model_dir);
        loop->warned_shared_dir = true;
        return 0;
    }
    if (result < 0 && err)
        *err = problem;
    return result;
}

static int start_writer(struct fit_loop *loop, struct err *err)
{
    return loop->writer ? 0
                        : checkpoint_writer_new(loop->options->model_dir, loop->options->keep,
                                                &loop->writer, err);
}

int fit_save_restore(struct fit_loop *loop, uint64_t *ret_step, struct err *err)
{
    _cleanup_free_ uint64_t *steps = NULL;
    _cleanup_(cleanup_checkpoint) struct checkpoint *checkpoint = NULL;
    char path[CHECKPOINT_PATH_MAX];
    size_t count = 0;
    int result = claim_directory(loop, err);
    if (result == 0) /* started before the first step, so that a failure is noticed early */
        result = start_writer(loop, err);
    if (result == 0)
        result = checkpoint_list(loop->options->model_dir, &steps, &count, err);
    if (result < 0)
        return result;
    checkpoint_sweep(loop->options->model_dir);
    result = read_newest(loop, steps, count, &checkpoint, path, err);
    if (result < 0 || !checkpoint)
        return result;
    if (!str_eq(checkpoint->info.model, loop->model->command.name))
        return err_set(err, ERR_USAGE,
                       "'%s' is a checkpoint of model '%s', but this run trains '%s': use another "
                       "--model-dir",
                       path, checkpoint->info.model, loop->model->command.name);
    if (checkpoint->info.seed != loop->options->seed)
        return err_set(err, ERR_INVALID,
                       "'%s' was made with seed %llu, but this run has %llu: use another "
                       "--model-dir, or the same seed",
                       path, (unsigned long long)checkpoint->info.seed,
                       (unsigned long long)loop->options->seed);
    result = check_kept(loop, checkpoint, path, err);
    if (result < 0)
        return result;
    result = checkpoint_restore(checkpoint, path, loop->params, loop->optimizer, err);
    if (result < 0)
        return err_wrap(err, "cannot resume (use another --model-dir, or remove the old one)");
    restore_notes(loop, checkpoint->info.notes);
    *ret_step = checkpoint->info.step;
    return 0;
}

/* Gives a copy of the state to the writer thread. */
static int put_checkpoint(struct fit_loop *loop, uint64_t step, struct err *err)
{
    const struct optimizer *optimizer = loop->optimizer;
    int ready = claim_during_run(loop, err);
    if (ready == 0 && loop->model->steps->collect)
        ready = loop->model->steps->collect(loop->context, err);
    if (ready < 0)
        return ready;
    if (!is_finite(loop->params->values, loop->params->floats) ||
        !is_finite(optimizer->slots, (size_t)optimizer->slot_count * optimizer->floats)) {
        err_set(err, ERR_INVALID, "after step %llu some parameters are nan or infinite",
                (unsigned long long)step);
        return fit_save_advise(loop, err);
    }
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct checkpoint_info info = {.model = loop->model->command.name,
                                   .config = loop->model->steps->config(loop->context, arena),
                                   .notes = notes_of(loop, arena),
                                   .step = step,
                                   .seed = loop->options->seed};
    int started = start_writer(loop, err);
    if (started < 0)
        return started;
    checkpoint_writer_put(loop->writer, loop->params, loop->optimizer, &info);
    return 0;
}

/* Logs a failed save, and the latest checkpoint that this process has written. */
static void log_save_failure(struct fit_loop *loop, const struct err *problem, bool last)
{
    const char *on = last ? "" : "training continues, and ";
    run_log_save_failed(loop->log);
    if (loop->saved)
        run_log_note(loop->log, "warning", "%s; %sthe last good checkpoint is of step %llu",
                     problem->message, on, (unsigned long long)loop->saved);
    else
        run_log_note(loop->log, "warning", "%s; %s", problem->message,
                     last ? "this process has written no checkpoint"
                          : "training continues, but this process has written no checkpoint yet");
}

int fit_save_put(struct fit_loop *loop, uint64_t step, struct err *err)
{
    struct err problem = ERR_INIT;
    int result = put_checkpoint(loop, step, &problem);
    if (result == -ERR_INVALID)
        return err_set(err, ERR_INVALID, "%s", problem.message);
    if (result < 0)
        log_save_failure(loop, &problem, false);
    return 0;
}

/* Logs the results of earlier saves. `last`: no other save follows. */
static void log_saves(struct fit_loop *loop, bool last)
{
    struct checkpoint_writer_report report;
    if (!loop->writer)
        return;
    checkpoint_writer_poll(loop->writer, &report);
    if (report.written) {
        loop->saved = report.last_step;
        run_log_saved(loop->log, report.last_step);
    }
    if (report.failed)
        log_save_failure(loop, &report.error, last);
    if (report.prune_error.code)
        run_log_note(loop->log, "warning", "%s", report.prune_error.message);
    if (report.replaced && !loop->warned_slow_disk)
        run_log_note(loop->log, "warning",
                     "checkpoints come faster than the disk can write them, so some are skipped: "
                     "raise --checkpoint-every");
    loop->warned_slow_disk = loop->warned_slow_disk || report.replaced;
}

void fit_save_take_over(struct fit_loop *loop)
{
    (void)claim_during_run(loop, NULL); /* a conflict is logged when a checkpoint is written */
}

void fit_save_hand_over(struct fit_loop *loop)
{
    if (loop->writer)
        (void)checkpoint_writer_drain(loop->writer, NULL);
    log_saves(loop, false);
    loop->writer = checkpoint_writer_free(loop->writer);
    if (loop->claim && *loop->claim >= 0) {
        close(*loop->claim);
        *loop->claim = -1;
    }
    loop->warned_shared_dir = false;
}

void fit_save_log_results(struct fit_loop *loop)
{
    log_saves(loop, false);
}

int fit_save_now(struct fit_loop *loop, uint64_t step, struct err *err)
{
    int result = put_checkpoint(loop, step, err);
    if (result == 0)
        result = checkpoint_writer_drain(loop->writer, err);
    log_saves(loop, true);
    return result;
}

int fit_save_advise(struct fit_loop *loop, struct err *err)
{
    const char *advice = loop->model->divergence_advice
                             ? loop->model->divergence_advice
                             : "a lower --learning-rate, or with --clip 1";
    _cleanup_free_ uint64_t *steps = NULL;
    size_t count = 0;
    struct err problem = err ? *err : ERR_INIT;
    if (loop->writer)
        (void)checkpoint_writer_drain(loop->writer, NULL);
    if (loop->options->model_dir)
        (void)checkpoint_list(loop->options->model_dir, &steps, &count, NULL);
    if (!count)
        return err_set(err, ERR_INVALID, "%s: start again with %s", problem.message, advice);
    char path[CHECKPOINT_PATH_MAX];
    checkpoint_path(loop->options->model_dir, steps[0], path);
    return err_set(err, ERR_INVALID, "%s; the last checkpoint is '%s': resume from it with %s",
                   problem.message, path, advice);
}
