/* Implements the evaluation of a recommender; see eval.h. */
#include "models/recommender/eval.h"

#include "base/mem.h"
#include "train/network/metrics.h"

#include <math.h>
#include <stdio.h>

enum { PART = 512 /* samples per pass */ };

int recommender_eval_run(struct recommender_batch *batch, const struct recommender_config *config,
                         struct ps_client *client, int table, const struct ratings *ratings,
                         const size_t *positions, size_t count, struct recommender_eval *ret,
                         struct err *err)
{
    size_t fields = RECOMMENDER_FIELDS, part = (size_t)recommender_batch_capacity(batch);
    part = part < PART ? part : PART;
    _cleanup_free_ float *scores = mem_calloc(count + 1, sizeof(*scores));
    _cleanup_free_ bool *liked = mem_calloc(count + 1, sizeof(*liked));
    _cleanup_free_ int64_t *ids = mem_calloc(fields * part, sizeof(*ids));
    _cleanup_free_ float *truth = mem_calloc(part, sizeof(*truth));
    _cleanup_free_ float *rows =
        mem_calloc(fields * part * (size_t)recommender_row_floats(config), sizeof(*rows));
    struct recommender_eval eval = {.count = count};
    double loss = 0;
    int result = ps_dense_pull(client, recommender_batch_params(batch)->values, err);
    if (result == 0)
        recommender_batch_changed(batch);
    for (size_t at = 0; result == 0 && at < count; at += part) {
        size_t now = count - at < part ? count - at : part;
        recommender_gather(config, ratings, positions + at, now, ids, truth);
        result = ps_rows_pull(client, table, ids, fields * now, rows, err);
        if (result < 0)
            break;
        recommender_batch_predict(batch, rows, (int)now, scores + at);
        for (size_t i = 0; i < now; i++) {
            float d_score;
            loss += recommender_loss(config->label, scores[at + i], truth[i], &d_score);
            liked[at + i] = truth[i] >= RECOMMENDER_LIKED;
            eval.liked += liked[at + i];
        }
    }
    if (result < 0)
        return err_wrap(err, "cannot evaluate the model");
    eval.auc = metrics_auc(scores, liked, count);
    eval.loss = count ? loss / (double)count : 0;
    eval.rmse = config->label == RECOMMENDER_RATING ? sqrt(eval.loss) : 0;
    *ret = eval;
    return 0;
}

void recommender_eval_sentence(const struct recommender_eval *eval, char *text, size_t size)
{
    char error[48] = "";
    if (eval->rmse > 0)
        snprintf(error, sizeof(error), ", RMSE %.4f", eval->rmse);
    snprintf(text, size, "AUC %.4f%s on %zu ratings that were not trained on (%.1f %% liked)",
             eval->auc, error, eval->count,
             100 * (double)eval->liked / (eval->count ? (double)eval->count : 1));
}

struct json *recommender_eval_to_json(struct arena *arena, const struct recommender_eval *eval)
{
    struct json *json = json_object(arena);
    json_set_int(arena, json, "ratings", (int64_t)eval->count);
    json_set_int(arena, json, "liked", (int64_t)eval->liked);
    json_set(arena, json, "auc", json_real(arena, eval->auc));
    json_set(arena, json, "loss", json_real(arena, eval->loss));
    if (eval->rmse > 0)
        json_set(arena, json, "rmse", json_real(arena, eval->rmse));
    return json;
}
