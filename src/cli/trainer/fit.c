/* trainer fit: runs one process of a training run. The table of models has one row per model that
 * can be trained (struct model in train/run/model.h). The row has everything that differs between
 * models; the code in this file is the same for all of them. */
#include "cli/trainer/commands.h"

#include "base/mem.h"
#include "base/system/file.h"
#include "cli/trainer/fit_cluster.h"
#include "cli/trainer/fit_report.h"
#include "cli/trainer/fit_watch.h"
#include "models/classifier/fit.h"
#include "models/face/fit.h"
#include "models/recommender/fit.h"
#include "train/team/reducer_comm.h"

#include <stdio.h>

enum { FIT_TEXT_MAX = 1 << 16 };

/* Checks that the cluster can train the model, and that this process can take part. */
static int fit_check_roles(const struct model_run *run, struct err *err)
{
    const struct model *model = run->model;
    enum ty_role role = run->cluster->tasks[run->cluster->self].role;
    size_t servers = ty_tf_config_count(run->cluster, TY_ROLE_PS);
    size_t workers = tf_config_workers(run->cluster);
    if (role == TY_ROLE_EVALUATOR)
        return err_set(err, ERR_UNSUPPORTED,
                       "this task is 'evaluator', which is not needed: the chief evaluates the "
                       "model at the end; remove the evaluator from the job");
    if (role == TY_ROLE_PS && !(model->modes & MODEL_TRAINS_WITH_SERVERS))
        return err_set(err, ERR_UNSUPPORTED,
                       "this task is 'ps', but the model '%s' trains without parameter servers: "
                       "give the job a chief and workers only",
                       model->command.name);
    if (workers > 1 && servers == 0 && !(model->modes & MODEL_TRAINS_SYNCHRONOUSLY))
        return err_set(err, ERR_UNSUPPORTED,
                       "%zu workers need a parameter server to train the model '%s' together: give "
                       "the job PS replicas, or one worker",
                       workers, model->command.name);
    if (servers && !run->servers)
        fprintf(stderr,
                "trainer: the model '%s' trains without parameter servers, so those of this "
                "cluster are not used: remove them from the job\n",
                model->command.name);
    return run->servers ? 0 : fit_cluster_check_batch(run->cluster, run->batch, err);
}

/* Runs this process as a parameter server. */
static int fit_serve_variables(struct model_run *run, struct err *err)
{
    const char *directory = run->fit.model_dir;
    struct ps_server_options server = {
        .config = run->cluster,
        .shape = model_run_hash(run, NULL),
        .directory = directory,
        .snapshot_every_ms = run->snapshot_every_ms,
        .join_timeout_ms = run->values->cluster.join_timeout * 1000,
        .stop = &fit_stop_signal,
        .report = fit_print_line,
    };
    int result = directory ? file_make_dirs(directory, 0755, err) : 0;
    return result < 0 ? result : ps_server_run(&server, &run->stopped, err);
}

/* Prints the lines of the model's announce() on standard output, and a warning if the model will
 * not be kept. */
static void fit_announce(const struct model_run *run)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, FIT_TEXT_MAX);
    if (run->chief && !run->fit.model_dir && !run->exports)
        fit_print_line(NULL, "the model will not be kept: use --model-dir to keep it");
    if (!run->model->announce || run->fit.log.style == PROGRESS_JSON)
        return;
    run->model->announce(run, &text);
    fwrite(text.data, 1, text.size, stdout);
    fflush(stdout);
}

/* Prints the result of a complete run, if this process has one. */
static void fit_report_result(const struct model_run *run)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf text;
    buf_init(&text, FIT_TEXT_MAX);
    struct json *line = json_object(arena);
    json_set_string(arena, line, "event", "result");
    if (!run->model->report(run, arena, line, &text))
        return;
    const char *report_dir = model_run_is_reporter(run) ? run->fit.model_dir : NULL;
    if (run->fit.log.style == PROGRESS_JSON) {
        fit_report_set(arena, line, report_dir);
        printf("%s\n", json_to_string(arena, line));
        return;
    }
    fwrite(text.data, 1, text.size, stdout);
    fit_report_print(report_dir);
}

/* Trains with a ps_client, which keeps the variables on parameter servers or in the memory of this
 * process. */
static int fit_train_with_servers(struct model_run *run, struct err *err)
{
    _cleanup_(cleanup_ps_client) struct ps_client *client = NULL;
    struct ps_options ps = {
        .config = run->cluster,
        .shape = model_run_hash(run, NULL),
        .join_timeout_ms = run->values->cluster.join_timeout * 1000,
        .timeout_ms = run->server_timeout_ms,
        .stop = &fit_stop_signal,
        .report = fit_print_line,
        .waiting = fit_watch_wait,
        .context = run->fit.log.state,
    };
    fit_joining = 1; /* a signal ends the process at once: there is nothing to save yet */
    int result = ps_client_open(&ps, &client, err);
    fit_joining = 0;
    run->client = client;
    if (result == 0)
        result = run->model->train(run, err);
    if (result == 0 && !run->stopped)
        fit_report_result(run);
    run->client = NULL;
    return result;
}

/* Trains alone, or together with the other workers of the cluster. */
static int fit_train_synchronously(struct model_run *run, const struct fit_terms *terms,
                                   struct err *err)
{
    _cleanup_(reducer_comm_close) struct reducer_comm several = {0};
    struct reducer alone = reducer_single();
    int result = 0;
    run->reducer = &alone;
    if (tf_config_workers(run->cluster) > 1) {
        struct comm_options comm =
            fit_cluster_comm(&run->values->cluster, run->cluster, model_run_hash(run, terms));
        comm.shape_text = fit_terms_text(terms);
        comm.waiting = fit_watch_wait;
        comm.waited = fit_watch_waited;
        comm.context = run->fit.log.state;
        result = reducer_comm_open(&several, &comm, &fit_joining, err);
        run->reducer = &several.reducer;
    }
    if (result == 0)
        result = run->model->train(run, err);
    if (result == 0 && !run->stopped)
        fit_report_result(run);
    run->reducer = NULL;
    return result;
}

/* Runs this process as the chief or as a worker. */
static int fit_train(struct model_run *run, struct err *err)
{
    const struct command *command = &run->model->command;
    _cleanup_(fit_watch_close) struct fit_watch watch = {0};
    _cleanup_(fit_terms_release) struct fit_terms terms = {0};
    fit_joining = 1; /* a signal ends the process at once: reading pictures may take long */
    int result = run->model->open(run, err);
    fit_joining = 0;
    if (result == 0)
        result = fit_watch_open(&run->values->watch, command, run->values, run->fit.model_dir,
                                &run->fit.log, &watch, err);
    if (result < 0)
        return result;
    fit_terms_init(&terms, command, run->values);
    run->model->terms(run, &terms);
    run->fit.kept = terms.kept;
    fit_announce(run);
    result =
        run->servers ? fit_train_with_servers(run, err) : fit_train_synchronously(run, &terms, err);
    if (result == 0 && !run->stopped)
        fit_watch_finish(&watch);
    return result;
}

static int fit_run(const struct command *command, const void *values, struct err *err)
{
    const struct model *model = CONTAINER_OF(command, const struct model, command);
    _cleanup_(cleanup_model_run) struct model_run *run = NULL;
    struct ty_tf_config *config = NULL;
    fit_install_signals();
    int result = fit_cluster_read(&((const struct fit_values *)values)->cluster, &config, err);
    if (result < 0)
        return result;
    run = model_run_new(model, values, config);
    run->fit.stop = &fit_stop_signal;
    run->fit.log.stream = stdout;
    result = model->init(run, err);
    if (result == 0)
        result = fit_check_roles(run, err);
    if (result == 0)
        result = config->tasks[config->self].role == TY_ROLE_PS ? fit_serve_variables(run, err)
                                                                : fit_train(run, err);
    bool stopped = run->stopped;
    ty_tf_config_free(config);
    return result == 0 && stopped ? fit_stopped_exit_code() : result;
}

static const struct command *const FIT_MODELS[] = {
    &CLASSIFIER_MODEL.command,
    &FACE_MODEL.command,
    &RECOMMENDER_MODEL.command,
    NULL,
};

const struct command COMMAND_FIT = {
    .name = "fit",
    .summary = "train a model",
    .description = "Trains a model, in one process or together with other processes. These are "
                   "named by TF_CONFIG, by the options --ps-hosts, --worker-hosts, --job-name and "
                   "--task-index, or by MASTER_ADDR, RANK and WORLD_SIZE.\n\nProcesses with a "
                   "secret, in TRAINYARD_JOB_SECRET or in the file that "
                   "TRAINYARD_JOB_SECRET_FILE names, accept only peers with the same secret.",
    .subcommands = FIT_MODELS,
    .run_subcommand = fit_run,
};
