/* trainer recommend: lists items for a user, from a model of `trainer fit recommender`. */
#include "cli/trainer/commands.h"

#include "base/str.h"
#include "models/recommender/top.h"

#include <stdio.h>
#include <string.h>

struct recommend_values {
    const char *model, *data, *user, *output;
    int64_t top, min_ratings;
};

static void print_recommendations_json(const struct recommend_values *wanted,
                                       const struct recommender_top *top)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *line = json_object(arena);
    json_set_string(arena, line, "user", wanted->user);
    json_set_int(arena, line, "rated", (int64_t)top->rated);
    struct json *list = json_set(arena, line, "items", json_array(arena));
    for (size_t i = 0; i < top->count; i++) {
        struct json *item = json_object(arena);
        json_set_int(arena, item, "item", top->items[i].item);
        json_set(arena, item, "score", json_real(arena, (double)top->items[i].score));
        json_set_int(arena, item, "ratings", (int64_t)top->items[i].ratings);
        json_append(list, item);
    }
    printf("%s\n", json_to_string(arena, line));
}

static void print_recommendations(const struct recommend_values *wanted,
                                  const struct recommender_top *top, bool probability)
{
    printf("user %s has rated %zu items; the best of the others:\n", wanted->user, top->rated);
    printf("%-6s%-22s%-12s%s\n", "RANK", "ITEM", probability ? "WILL LIKE" : "RATING", "RATINGS");
    for (size_t i = 0; i < top->count; i++) {
        char score[32];
        snprintf(score, sizeof(score), probability ? "%.1f %%" : "%.2f",
                 (double)top->items[i].score * (probability ? 100 : 1));
        printf("%-6zu%-22lld%-12s%zu\n", i + 1, (long long)top->items[i].item, score,
               top->items[i].ratings);
    }
}

static int recommend_run(const void *values, size_t count, const char *const *arguments,
                         struct err *err)
{
    (void)count, (void)arguments;
    const struct recommend_values *wanted = values;
    _cleanup_(cleanup_recommender_model) struct recommender_model *model = NULL;
    _cleanup_(cleanup_ratings) struct ratings *ratings = NULL;
    _cleanup_(recommender_top_release) struct recommender_top top = {0};
    if (str_is_empty(wanted->model) || str_is_empty(wanted->data) || str_is_empty(wanted->user))
        return err_set(err, ERR_USAGE, "a model, ratings and a user are needed: '%s' is missing",
                       str_is_empty(wanted->model)  ? "--model FILE"
                       : str_is_empty(wanted->data) ? "--data FILE"
                                                    : "--user ID");
    int result = recommender_model_load(wanted->model, &model, err);
    if (result == 0)
        result = ratings_open(wanted->data, &ratings, err);
    if (result == 0)
        result =
            recommender_top_find(model, ratings, ratings_id(wanted->user, strlen(wanted->user)),
                                 (size_t)wanted->min_ratings, (size_t)wanted->top, &top, err);
    if (result == -ERR_NOT_FOUND && ratings) /* The message has the user's name from the command
                                                line, because ratings_id() may have hashed it. */
        return err_set(err, ERR_NOT_FOUND,
                       "user '%s' has no ratings in '%s', so nothing can be recommended",
                       wanted->user, wanted->data);
    if (result < 0)
        return result;
    if (str_eq(wanted->output, "json"))
        print_recommendations_json(wanted, &top);
    else
        print_recommendations(wanted, &top,
                              recommender_model_config(model)->label == RECOMMENDER_LIKE);
    return 0;
}

#define FIELD(name) .offset = offsetof(struct recommend_values, name)

static const struct option OPTIONS[] = {
    {.name = "model",
     .type = OPTION_PATH,
     FIELD(model),
     .value = "FILE",
     .help = "the file recommender.model of a training run"},
    {.name = "data",
     .type = OPTION_PATH,
     FIELD(data),
     .environment = "TRAINER_DATA|TF_DATA_DIR",
     .value = "FILE",
     .help = "the ratings: they list the items, and those that the user has already rated"},
    {.name = "user", .type = OPTION_STRING, FIELD(user), .value = "ID", .help = "id of the user"},
    {.name = "top",
     .type = OPTION_INT,
     FIELD(top),
     .fallback = "10",
     .min = 1,
     .max = 100000,
     .value = "N",
     .help = "how many items to print"},
    {.name = "min-ratings",
     .type = OPTION_INT,
     FIELD(min_ratings),
     .fallback = "10",
     .min = 1,
     .max = 1000000000,
     .value = "N",
     .help = "leave out items with fewer ratings, about which the model knows little"},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_CHOICE,
     FIELD(output),
     .fallback = "table",
     .choices = "table|json",
     .value = "FORM",
     .help = "table: columns of text; json: one JSON object"},
    {0},
};

const struct command COMMAND_RECOMMEND = {
    .name = "recommend",
    .summary = "recommend items to a user",
    .description = "Scores every item that the user has not rated, and prints the best. A score is "
                   "the probability that the user likes the item, or the predicted rating, "
                   "depending on how the model was trained.",
    .examples = "trainer recommend --model films/recommender.model --data ratings.csv --user 15",
    .options = OPTIONS,
    .values_size = sizeof(struct recommend_values),
    .run = recommend_run,
};
