/* Ratings per second when the recommender of Monolith's MovieLens demo (two embeddings of 32, a
 * network of 256, 64 and 1, Adagrad, batches of 512) is trained in one process with one thread,
 * including shuffling, lookups and updates. recommender_torch.py is its peer. There are as many
 * users, items and ratings as in MovieLens. Prints the best of several epochs. */
#include "base/mem.h"
#include "base/rand.h"
#include "models/recommender/fit.h"
#include "train/kernels/kernels.h"

#include <stdio.h>
#include <time.h>

enum { USERS = 671, ITEMS = 9066, RATINGS = 100000, EPOCHS = 5 };

static double process_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(void)
{
    struct ratings ratings = {mem_calloc(RATINGS, sizeof(struct rating)), RATINGS};
    struct rand rand;
    rand_init(&rand, 1);
    for (size_t i = 0; i < RATINGS; i++) {
        double skew = rand_unit(&rand); /* few items have most of the ratings */
        ratings.items[i] = (struct rating){
            .user = (int64_t)rand_below(&rand, USERS),
            .item = (int64_t)(skew * skew * skew * ITEMS),
            .value = (float)(1 + rand_below(&rand, 9)) / 2,
        };
    }
    double best = 0;
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        struct recommender_fit_options options = RECOMMENDER_FIT_DEFAULT;
        options.model.kind = RECOMMENDER_MLP;
        options.model.label = RECOMMENDER_RATING;
        options.epochs = 1;
        options.test_percent = 0;
        struct ty_task self = {.role = TY_ROLE_WORKER};
        struct ty_tf_config config = {.tasks = &self, .count = 1};
        struct ps_options ps = {.config = &config};
        struct ps_client *client = NULL;
        struct recommender_fit_result result;
        struct err err = ERR_INIT;
        double start = process_seconds();
        if (ps_client_open(&ps, &client, &err) < 0 ||
            recommender_fit(&options, &ratings, &(struct recommender_fit_cluster){client, 1, true},
                            &result, &err) < 0) {
            fprintf(stderr, "%s\n", err.message);
            return 1;
        }
        double speed = RATINGS / (process_seconds() - start);
        best = speed > best ? speed : best;
        ps_client_free(client);
    }
    free(ratings.items);
    printf("{\"name\":\"recommender training 1 thread\",\"value\":%.0f,\"unit\":\"ratings/s\"}\n",
           best);
    return 0;
}
