/* Creates and frees the run of a model, and computes hashes of its numbers; see model.h. */
#include "train/run/model.h"

#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

struct model_run *model_run_new(const struct model *model, const void *values,
                                const struct ty_tf_config *cluster)
{
    struct model_run *run = mem_zalloc(model->run_size);
    bool servers = ty_tf_config_count(cluster, TY_ROLE_PS) > 0;
    *run = (struct model_run){
        .model = model,
        .values = values,
        .cluster = cluster,
        .fit = fit_options_read(values),
        /* A model that cannot train synchronously accesses its variables through a client even in a
         * single process. */
        .servers = (servers && model->modes & MODEL_TRAINS_WITH_SERVERS) ||
                   !(model->modes & MODEL_TRAINS_SYNCHRONOUSLY),
        .chief = ty_tf_config_is_chief(cluster),
    };
    return run;
}

struct model_run *model_run_free(struct model_run *run)
{
    if (run && run->model->release)
        run->model->release(run);
    free(run);
    return NULL;
}

uint64_t model_run_hash(const struct model_run *run, const struct fit_terms *terms)
{
    uint64_t numbers[MODEL_NUMBERS_MAX];
    uint64_t hash = model_hash(numbers, run->model->numbers(run, terms != NULL, numbers));
    return terms ? fit_terms_hash(terms, hash) : hash;
}

bool model_run_is_reporter(const struct model_run *run)
{
    return run->reducer ? run->reducer->rank == 0 : run->chief;
}

uint64_t model_hash(const uint64_t *numbers, size_t count)
{
    uint64_t hash = HASH_FNV_START;
    for (size_t i = 0; i < count; i++) {
        unsigned char bytes[8]; /* little-endian on every machine */
        for (int j = 0; j < 8; j++)
            bytes[j] = (unsigned char)(numbers[i] >> 8 * j);
        hash = hash_fnv1a(hash, bytes, sizeof(bytes));
    }
    return hash;
}

uint64_t model_hash_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}
