/* Implements the declaration, allocation and initial values of parameters; see params.h. */
#include "train/layers/params.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/str.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 * 1024 * 1024 }; /* bytes */

struct params *params_new(void)
{
    struct params *params = mem_zalloc(sizeof(*params));
    params->entries = mem_calloc(PARAMS_MAX, sizeof(*params->entries));
    return params;
}

struct params *params_free(struct params *params)
{
    if (!params)
        return NULL;
    if (params->values)
        munmap(params->values, params->mapped);
    shared_memory_free(params->gradients_memory);
    free(params->entries);
    free(params);
    return NULL;
}

size_t params_declare(struct params *params, const char *name, const int dims[PARAM_DIMS],
                      enum param_start start, int fan_in)
{
    if (params->values)
        mem_panic("parameter '%s' declared after the arena was made", name);
    if (params->count == PARAMS_MAX)
        mem_panic("parameter '%s' exceeds the limit of %d parameters", name, PARAMS_MAX);
    for (size_t i = 0; i < params->count; i++)
        if (str_eq(params->entries[i].name, name))
            mem_panic("parameter '%s' declared twice", name);
    struct param *entry = &params->entries[params->count];
    if (!str_copy(entry->name, sizeof(entry->name), name))
        mem_panic("parameter name '%s' is too long", name);
    entry->count = 1;
    for (int i = 0; i < PARAM_DIMS; i++) {
        entry->dims[i] = dims[i];
        entry->count *= (size_t)dims[i];
    }
    entry->start = start;
    entry->fan_in = fan_in;
    entry->offset = params->floats;
    params->floats += (entry->count + PARAMS_ALIGN - 1) / PARAMS_ALIGN * PARAMS_ALIGN;
    if (params->floats > PARAMS_FLOATS_MAX)
        mem_panic("parameter '%s' makes the model larger than %d values", name, PARAMS_FLOATS_MAX);
    return params->count++;
}

/* Returns the number of bytes of `floats` floats, rounded up to whole huge pages. */
static size_t page_bytes(size_t floats)
{
    return (floats * sizeof(float) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

int params_allocate(struct params *params, struct err *err)
{
    params->mapped = page_bytes(params->floats);
    void *values =
        mmap(NULL, params->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (values == MAP_FAILED)
        return err_set_errno(err, errno, "cannot map %zu bytes for the parameters", params->mapped);
    params->values = values;
    (void)madvise(values, params->mapped,
                  MADV_HUGEPAGE); /* only a hint: small pages work, too, but are slower */
    if (shared_memory_new("gradients", page_bytes(params->floats + PARAMS_TAIL),
                          &params->gradients_memory, err) < 0)
        return err_wrap(err, "gradients");
    params->gradients = params->gradients_memory->at;
    return 0;
}

void params_initialise(struct params *params, uint64_t seed)
{
    for (size_t i = 0; i < params->count; i++) {
        struct param *entry = &params->entries[i];
        float *value = params_value(params, i);
        struct rand rand;
        rand_init_keyed(&rand, seed, hash_fnv1a(HASH_FNV_START, entry->name, strlen(entry->name)),
                        0);
        double gain = entry->start == PARAM_HE ? 2 : 1;
        double deviation = entry->fan_in > 0 ? sqrt(gain / entry->fan_in) : 0;
        for (size_t j = 0; j < entry->count; j++)
            switch (entry->start) {
            case PARAM_ZERO:
            case PARAM_KEPT_ZERO:
                value[j] = 0;
                break;
            case PARAM_ONE:
            case PARAM_KEPT_ONE:
                value[j] = 1;
                break;
            case PARAM_HE:
            case PARAM_XAVIER:
                value[j] = (float)(rand_normal(&rand) * deviation);
                break;
            }
    }
}

uint64_t params_shape_hash(const struct params *params)
{
    uint64_t hash = HASH_FNV_START;
    for (size_t i = 0; i < params->count; i++) {
        const struct param *entry = &params->entries[i];
        hash = hash_fnv1a(hash, entry->name, strlen(entry->name) + 1);
        for (int d = 0; d < PARAM_DIMS; d++) {
            uint32_t dim = (uint32_t)entry->dims[d];
            unsigned char bytes[4] = {(unsigned char)dim, (unsigned char)(dim >> 8),
                                      (unsigned char)(dim >> 16), (unsigned char)(dim >> 24)};
            hash = hash_fnv1a(hash, bytes, sizeof(bytes));
        }
    }
    return hash;
}

void params_clear_gradients(struct params *params)
{
    memset(params->gradients, 0, (params->floats + PARAMS_TAIL) * sizeof(float));
}

size_t params_trainable(const struct params *params)
{
    size_t count = 0;
    for (size_t i = 0; i < params->count; i++)
        count += param_is_trained(&params->entries[i]) ? params->entries[i].count : 0;
    return count;
}
