/* A small run of the recommender in one process, for the tests of its training: ratings that follow
 * preferences, a scratch directory, and a client without servers. */
#ifndef TRAINYARD_TESTS_UNIT_MODELS_RECOMMENDER_RUN_H
#define TRAINYARD_TESTS_UNIT_MODELS_RECOMMENDER_RUN_H

#include "taste.h"

#include "base/system/file.h"
#include "models/recommender/fit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { USERS = 60, ITEMS = 80, RATINGS = 3000 };

static char directory[64];

static inline int make_directory(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/test_recommender.XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static inline int remove_directory(void **state)
{
    return file_remove_tree(directory, NULL);
}

static inline struct recommender_fit_options small_run(enum recommender_kind kind)
{
    struct recommender_fit_options options = RECOMMENDER_FIT_DEFAULT;
    options.model.kind = kind;
    options.model.label = kind == RECOMMENDER_MLP ? RECOMMENDER_RATING : RECOMMENDER_LIKE;
    options.model.dimensions = 8;
    options.batch = 64;
    options.epochs = 12;
    options.test_percent = 20;
    return options;
}

static inline uint64_t hash_of(const struct recommender_fit_options *options)
{
    uint64_t numbers[MODEL_NUMBERS_MAX];
    return model_hash(numbers, recommender_fit_numbers(options, numbers));
}

static inline int try_fit(const struct recommender_fit_options *options,
                          const struct ratings *ratings, struct recommender_fit_result *ret,
                          struct err *err)
{
    _cleanup_(cleanup_ps_client) struct ps_client *client = NULL;
    struct ty_task self = {.role = TY_ROLE_WORKER};
    struct ty_tf_config config = {.tasks = &self, .count = 1};
    struct ps_options ps = {.config = &config, .shape = hash_of(options)};
    assert_int_equal(ps_client_open(&ps, &client, err), 0);
    struct recommender_fit_cluster cluster = {.client = client, .workers = 1, .chief = true};
    return recommender_fit(options, ratings, &cluster, ret, err);
}

static inline struct recommender_fit_result fit(const struct recommender_fit_options *options,
                                                const struct ratings *ratings)
{
    struct recommender_fit_result result = {0};
    struct err err = ERR_INIT;
    if (try_fit(options, ratings, &result, &err) < 0)
        fail_msg("%s", err.message);
    return result;
}

#endif
