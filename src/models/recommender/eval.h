/* Measures the quality of a recommender on ratings it was not trained on: whether liked items score
 * higher than others (AUC), and the error of predicted ratings. Called on the chief, after the last
 * batch of all workers. */
#ifndef TRAINYARD_MODELS_RECOMMENDER_EVAL_H
#define TRAINYARD_MODELS_RECOMMENDER_EVAL_H

#include "comm/ps/ps.h"
#include "models/recommender/batch.h"

struct recommender_eval {
    size_t count, liked; /* number of ratings, and of ratings that count as liked */
    double auc;  /* probability that a liked item scores higher than another; ties count half */
    double loss; /* mean loss */
    double rmse; /* root mean square error if the model predicts ratings; else 0 */
};

/* Evaluates the current variables of `client` on the ratings at `positions`. Before that, replaces
 * the dense parameters of `batch` by those of `client`. */
int recommender_eval_run(struct recommender_batch *batch, const struct recommender_config *config,
                         struct ps_client *client, int table, const struct ratings *ratings,
                         const size_t *positions, size_t count, struct recommender_eval *ret,
                         struct err *err);

/* Writes the result as one line of text. */
void recommender_eval_sentence(const struct recommender_eval *eval, char *text, size_t size);
struct json *recommender_eval_to_json(struct arena *arena, const struct recommender_eval *eval);

#endif
