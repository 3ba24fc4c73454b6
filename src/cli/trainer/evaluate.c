/* trainer evaluate: measures the accuracy of a classifier on the test pictures, overall and per
 * class. */
#include "cli/trainer/commands.h"

#include "base/str.h"
#include "base/utf8.h"
#include "cli/trainer/fit_cluster.h"
#include "models/classifier/eval.h"

#include <stdio.h>

struct evaluate_values {
    const char *model, *data, *log;
};

static void print_evaluation(const struct classifier_model *model,
                             const struct classifier_eval *eval)
{
    char text[128];
    printf("%-24s %8s %8s %10s   %s\n", "LABEL", "PICTURES", "RIGHT", "TAKEN FOR IT",
           "MOST OFTEN TAKEN FOR");
    for (int i = 0; i < eval->classes; i++) {
        const struct classifier_eval_class *row = &eval->rows[i];
        const char *label = classifier_model_label(model, i);
        printf("%-*s %8zu %6.1f %% %12zu   %s\n", utf8_width(label, 24), label, row->pictures,
               row->pictures ? 100 * (double)row->correct / (double)row->pictures : 0.0,
               row->taken_for,
               row->mistaken_for < 0 ? "-" : classifier_model_label(model, row->mistaken_for));
    }
    classifier_eval_sentence(eval, text, sizeof(text));
    printf("%s\n", text);
}

static int evaluate_run(const void *values, size_t count, const char *const *arguments,
                        struct err *err)
{
    (void)count, (void)arguments;
    const struct evaluate_values *evaluate = values;
    _cleanup_(cleanup_classifier_model) struct classifier_model *model = NULL;
    _cleanup_(cleanup_idx) struct idx *data = NULL;
    _cleanup_(classifier_eval_release) struct classifier_eval eval = {0};
    if (str_is_empty(evaluate->model))
        return err_set(err, ERR_USAGE,
                       "no model given: use --model FILE (training writes "
                       "MODEL-DIR/" CLASSIFIER_MODEL_FILE ")");
    int result = classifier_model_load(evaluate->model, &model, err);
    if (result == 0)
        result = idx_open(evaluate->data, IDX_TEST, &data, err);
    if (result == 0)
        result = classifier_eval_run(model, data, &eval, err);
    if (result < 0)
        return result;
    if (fit_options_style(evaluate->log) == PROGRESS_JSON) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        printf("%s\n", json_to_string(arena, classifier_eval_to_json(arena, model, &eval)));
    } else {
        print_evaluation(model, &eval);
    }
    return 0;
}

#define FIELD(name) .offset = offsetof(struct evaluate_values, name)

static const struct option OPTIONS[] = {
    {.name = "model",
     .type = OPTION_PATH,
     FIELD(model),
     .value = "FILE",
     .help = "model file of a classifier"},
    {.name = "data",
     .type = OPTION_PATH,
     FIELD(data),
     .environment = "TRAINER_DATA|TF_DATA_DIR",
     .fallback = IDX_DIRECTORY_DEFAULT,
     .value = "DIR",
     .help = "directory with the IDX files of the test pictures (t10k-…)"},
    {.name = "log",
     .type = OPTION_CHOICE,
     FIELD(log),
     .environment = "TRAINER_LOG",
     .fallback = "auto",
     .choices = "auto|plain|json",
     .value = "FORM",
     .help = "a table, or one line of JSON"},
    {0},
};

const struct command COMMAND_EVALUATE = {
    .name = "evaluate",
    .summary = "evaluate a classifier on test pictures",
    .description =
        "Evaluates a classifier on the test pictures of a data set, in total and per class.",
    .examples = "trainer evaluate --model fashion/classifier.model",
    .options = OPTIONS,
    .values_size = sizeof(struct evaluate_values),
    .run = evaluate_run,
};
