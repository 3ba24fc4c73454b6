/* Implements how a worker ends or leaves a run on request; see fit_leave.h. */
#include "train/run/fit_leave.h"

#include "base/buf.h"
#include "base/mem.h"
#include "train/run/fit_save.h"

bool fit_leave_is_asked(const struct fit_loop *loop)
{
    return loop->options->stop && *loop->options->stop;
}

/* Writes a sentence with the names of the workers for which stopping[rank] is not 0. */
static void write_stopping(struct reducer *reducer, const float *stopping, struct buf *text)
{
    enum { NAMED_MAX = 4 };
    int named = 0;
    for (int rank = 0; rank < reducer->size; rank++) {
        char name[512];
        if (!(stopping[rank] > 0) || named++ >= NAMED_MAX)
            continue;
        reducer->name(reducer, rank, name, sizeof(name));
        buf_printf(text, "%s%s", named > 1 ? ", " : "", name);
    }
    if (named > NAMED_MAX)
        buf_printf(text, " and %d more", named - NAMED_MAX);
    buf_append_str(text, named > 1 ? " were told to stop" : " was told to stop");
}

/* The step has told all workers that some worker was asked to stop, but not which. Further workers
 * may have been asked after the step had started. So each worker tells all others whether it was
 * asked to stop. */
int fit_leave_agree(struct fit_loop *loop, enum fit_leave *ret, struct err *err)
{
    struct reducer *reducer = loop->reducer;
    const float own = fit_leave_is_asked(loop) ? 1 : 0;
    *ret = FIT_LEAVE_ALL;
    if (reducer->size == 1 || !reducer->name)
        return 0;
    _cleanup_free_ float *stopping = mem_calloc((size_t)reducer->size, sizeof(*stopping));
    int result = reducer->allgather(reducer, &own, 1, stopping, err);
    if (result < 0)
        return result;
    _cleanup_buf_ struct buf names;
    buf_init(&names, 4096);
    write_stopping(reducer, stopping, &names);
    bool all = !reducer->elastic || !reducer->reform || stopping[0] > 0;
    if (!all)
        *ret = own > 0 ? FIT_LEAVE_SELF : FIT_LEAVE_OTHERS;
    for (int rank = 0; *ret == FIT_LEAVE_OTHERS && rank < reducer->size; rank++)
        if (stopping[rank] > 0)
            reducer->dismiss(reducer, rank);
    if (*ret != FIT_LEAVE_OTHERS) /* every leaving worker logs why it ends */
        run_log_set_role(loop->log, true, reducer->rank == 0);
    run_log_note(loop->log, "told", "%s; %s", names.data,
                 all ? "all workers stop" : "the others go on");
    return 0;
}

void fit_leave_end_run(struct fit_loop *loop, struct fit_loop_result *outcome)
{
    outcome->stopped = true;
    run_log_note(loop->log, "stopped",
                 loop->options->model_dir
                     ? "stopped after step %llu; the next run goes on from there"
                     : "stopped after step %llu",
                 (unsigned long long)outcome->last);
}

int fit_leave_alone(struct fit_loop *loop, bool writes, struct fit_loop_result *outcome,
                    struct err *err)
{
    int result = 0;
    if (writes && outcome->last > outcome->first)
        result = fit_save_now(loop, outcome->last, err);
    if (result < 0)
        return result;
    fit_leave_end_run(loop, outcome);
    return 0;
}
