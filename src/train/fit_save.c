/* The checkpoints of a run in step; see fit_save.h. */
#include "train/fit_save.h"

#include "base/file.h"
#include "base/mem.h"
#include "train/checkpoint_writer.h"

/* One that is damaged is passed over and put out of the way, with a word about it; any other that
 * cannot be used, or not be put there, is an error, for what was learned must not be lost
 * silently. */
static int read_newest(struct fit_loop *loop, const uint64_t *steps, size_t count,
                       struct checkpoint **ret, char path[CHECKPOINT_PATH_MAX], struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        struct err problem = ERR_INIT;
        checkpoint_path(loop->model_dir, steps[i], path);
        int result = checkpoint_read(path, ret, &problem);
        if (result == 0)
            return 0;
        if (result == -ERR_BAD_REQUEST) {
            run_log_note(loop->log, "warning", "%s; looking for an older one", problem.message);
            result = checkpoint_set_aside(loop->model_dir, steps[i], &problem);
        }
        if (result < 0) {
            if (err)
                *err = problem;
            return err_wrap(err, "cannot resume");
        }
    }
    return 0;
}

/* What the model has learned beside its parameters; without it the steps after a resumption would
 * differ from those of a run that was never broken off in their last bits. */
static struct json *notes_of(struct fit_loop *loop, struct arena *arena)
{
    size_t count = 0;
    const float *learned = loop->learned ? loop->learned(loop->context, &count) : NULL;
    struct json *notes = json_object(arena), *list = json_array(arena);
    for (size_t i = 0; i < count; i++)
        json_append(list, json_real(arena, (double)learned[i]));
    json_set(arena, notes, "learned", list);
    return notes;
}

/* Checkpoints from before there were notes have none, and those of other models others. */
static void restore_notes(struct fit_loop *loop, const struct json *notes)
{
    size_t count = 0;
    float *learned = loop->learned ? loop->learned(loop->context, &count) : NULL;
    const struct json *list = json_get(notes, "learned");
    if (json_count(list) != count)
        return;
    JSON_EACH (value, list)
        *learned++ = (float)json_number(value, 0);
}

int fit_save_restore(struct fit_loop *loop, uint64_t *ret_step, struct err *err)
{
    _cleanup_free_ uint64_t *steps = NULL;
    _cleanup_(cleanup_checkpoint) struct checkpoint *checkpoint = NULL;
    char path[CHECKPOINT_PATH_MAX];
    size_t count = 0;
    int result = file_make_dirs(loop->model_dir, 0755, err);
    if (result == 0)
        result = checkpoint_list(loop->model_dir, &steps, &count, err);
    if (result < 0)
        return result;
    checkpoint_sweep(loop->model_dir);
    result = read_newest(loop, steps, count, &checkpoint, path, err);
    if (result < 0 || !checkpoint)
        return result;
    if (checkpoint->info.seed != loop->seed)
        return err_set(err, ERR_INVALID,
                       "'%s' was made with seed %llu, this run has %llu: use another "
                       "--model-dir, or the same seed",
                       path, (unsigned long long)checkpoint->info.seed,
                       (unsigned long long)loop->seed);
    result = checkpoint_restore(checkpoint, path, loop->params, loop->optimizer, err);
    if (result < 0)
        return err_wrap(err, "cannot resume (use another --model-dir, or remove the old one)");
    restore_notes(loop, checkpoint->info.notes);
    *ret_step = checkpoint->info.step;
    return 0;
}

static int put(struct fit_loop *loop, uint64_t step, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct checkpoint_info info = {.model = loop->model,
                                   .config = loop->config(loop->context, arena),
                                   .notes = notes_of(loop, arena),
                                   .step = step,
                                   .seed = loop->seed};
    if (!loop->writer) {
        int result = checkpoint_writer_new(loop->model_dir, loop->keep, &loop->writer, err);
        if (result < 0)
            return result;
    }
    checkpoint_writer_put(loop->writer, loop->params, loop->optimizer, &info);
    return 0;
}

static void tell_failure(struct fit_loop *loop, const struct err *problem, uint64_t good)
{
    run_log_save_failed(loop->log);
    if (good)
        run_log_note(loop->log, "warning", "%s; going on, the last good checkpoint is of step %llu",
                     problem->message, (unsigned long long)good);
    else
        run_log_note(loop->log, "warning", "%s; going on, though there is no checkpoint yet",
                     problem->message);
}

void fit_save_put(struct fit_loop *loop, uint64_t step)
{
    struct err problem = ERR_INIT;
    if (put(loop, step, &problem) < 0)
        tell_failure(loop, &problem, loop->saved);
}

void fit_save_tell(struct fit_loop *loop)
{
    struct checkpoint_writer_news news;
    if (!loop->writer)
        return;
    checkpoint_writer_ask(loop->writer, &news);
    if (news.written) {
        loop->saved = news.good;
        run_log_saved(loop->log, news.good);
    }
    if (news.failed)
        tell_failure(loop, &news.error, loop->saved);
    if (news.unpruned.code)
        run_log_note(loop->log, "warning", "%s", news.unpruned.message);
    if (news.replaced && !loop->slow_disk)
        run_log_note(loop->log, "warning",
                     "checkpoints come faster than the disk takes them, so some are left out: "
                     "raise --checkpoint-every");
    loop->slow_disk = loop->slow_disk || news.replaced;
}

int fit_save_now(struct fit_loop *loop, uint64_t step, struct err *err)
{
    int result = put(loop, step, err);
    if (result == 0)
        result = checkpoint_writer_drain(loop->writer, err);
    fit_save_tell(loop);
    return result;
}
