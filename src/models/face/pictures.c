/* Implements the loading of pictures for training; see pictures.h. */
#include "models/face/pictures.h"

#include "base/mem.h"

#include <stdatomic.h>
#include <string.h>

struct face_pictures {
    const struct dataset *dataset;
    struct face_config config;
    size_t size;    /* bytes per picture */
    size_t *first;  /* index of the first picture of each person */
    uint8_t *bytes; /* all pictures; NULL if they have more than FACE_PICTURES_BYTES_MAX bytes */
    atomic_uchar *states; /* one state per picture in `bytes`; NULL if `bytes` is NULL */
};

/* The state of a picture in `bytes`. A thread that finds EMPTY decodes the picture into `bytes`. A
 * thread that finds LOADING decodes a copy of its own instead of waiting. */
enum { EMPTY, LOADING, LOADED };

struct face_pictures *face_pictures_new(const struct dataset *dataset,
                                        const struct face_config *config)
{
    struct face_pictures *pictures = mem_zalloc(sizeof(*pictures));
    size_t persons = dataset_persons(dataset), total = dataset_total(dataset);
    pictures->dataset = dataset;
    pictures->config = *config;
    pictures->size = face_config_sample(config);
    pictures->first = mem_calloc(persons + 1, sizeof(*pictures->first));
    for (size_t i = 0; i < persons; i++)
        pictures->first[i + 1] = pictures->first[i] + dataset_pictures(dataset, i);
    bool fit = total <= FACE_PICTURES_BYTES_MAX / pictures->size;
    if (fit) {
        pictures->bytes = mem_alloc((total + 1) * pictures->size);
        pictures->states = mem_calloc(total + 1, sizeof(*pictures->states));
    }
    return pictures;
}

struct face_pictures *face_pictures_free(struct face_pictures *pictures)
{
    if (!pictures)
        return NULL;
    free(pictures->first);
    free(pictures->bytes);
    free(pictures->states);
    free(pictures);
    return NULL;
}

static int load_picture(const struct face_pictures *pictures, const struct dataset_sample *sample,
                        uint8_t *ret_bytes, struct err *err)
{
    return dataset_load_bytes(pictures->dataset, sample->person, sample->picture,
                              (size_t)pictures->config.side, (size_t)pictures->config.channels,
                              ret_bytes, err);
}

/* Sets *ret to the bytes of a picture, which `pictures` owns, or which are a copy. If they are a
 * copy, also sets *copy. The caller frees *copy, after a failure, too. */
static int find_picture(struct face_pictures *pictures, const struct dataset_sample *sample,
                        const uint8_t **ret, uint8_t **copy, struct err *err)
{
    size_t index = pictures->first[sample->person] + sample->picture;
    unsigned char empty = EMPTY;
    if (pictures->bytes) {
        uint8_t *kept = pictures->bytes + index * pictures->size;
        atomic_uchar *state = &pictures->states[index];
        *ret = kept;
        if (atomic_load_explicit(state, memory_order_acquire) == LOADED)
            return 0;
        if (atomic_compare_exchange_strong(state, &empty, LOADING)) {
            int result = load_picture(pictures, sample, kept, err);
            atomic_store_explicit(state, result == 0 ? LOADED : EMPTY, memory_order_release);
            return result;
        }
    }
    *ret = *copy = mem_alloc(pictures->size);
    return load_picture(pictures, sample, *copy, err);
}

int face_pictures_load(struct face_pictures *pictures, const struct dataset_sample *sample,
                       float *ret_pixels, struct err *err)
{
    const uint8_t *bytes;
    _cleanup_free_ uint8_t *copy = NULL;
    int result = find_picture(pictures, sample, &bytes, &copy, err);
    for (size_t i = 0; result == 0 && i < pictures->size; i++)
        ret_pixels[i] = (float)bytes[i] / 255;
    return result;
}

/* Sets *ret to `bytes` blended with the second picture of the entry. The caller frees *ret. */
static int blend_pictures(struct face_pictures *pictures, const struct face_batch_entry *entry,
                          const uint8_t *bytes, uint8_t **ret, struct err *err)
{
    const uint8_t *other;
    _cleanup_free_ uint8_t *copy = NULL;
    int result = find_picture(pictures, &entry->other, &other, &copy, err);
    if (result < 0)
        return result;
    uint8_t *both = mem_alloc(pictures->size);
    for (size_t i = 0; i < pictures->size; i++)
        both[i] =
            (uint8_t)((1 - entry->part) * (float)bytes[i] + entry->part * (float)other[i] + 0.5f);
    *ret = both;
    return 0;
}

int face_pictures_load_input(struct face_pictures *pictures, const struct augment *augment,
                             const struct face_batch_entry *entry, uint64_t seed, uint64_t step,
                             uint64_t position, float *ret_input, struct err *err)
{
    const uint8_t *bytes;
    _cleanup_free_ uint8_t *copy = NULL, *both = NULL;
    int result = find_picture(pictures, &entry->sample, &bytes, &copy, err);
    if (result == 0 && entry->part > 0)
        result = blend_pictures(pictures, entry, bytes, &both, err);
    if (result < 0)
        return result;
    struct rand rand;
    rand_init_keyed(&rand, seed, step, position);
    augment_picture(augment, both ? &entry->shape : NULL, &rand, both ? both : bytes,
                    pictures->config.side, pictures->config.channels, ret_input);
    face_prepare(&pictures->config, ret_input, ret_input);
    return 0;
}
