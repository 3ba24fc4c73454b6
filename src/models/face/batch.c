/* Implements the choice of the pictures of a batch; see batch.h. */
#include "models/face/batch.h"

#include "base/mem.h"
#include "base/rand.h"

#include <stdbool.h>

/* The weight of the second person in a blend is between WEIGHT_MIN and 1 - WEIGHT_MIN. Outside of
 * this range the blend would look like one of the two persons. */
#define WEIGHT_MIN 0.35f

/* The smallest key of the random draws for blends. The draws that augment pictures use smaller
 * keys: positions in the batch. */
#define BLEND_KEY_MIN ((uint64_t)1 << 32)

/* Returns the position, among the persons of the batch, of the person that is blended with the
 * person at `place`. Successive steps go through all other positions, so that over time each
 * position is blended with every other one. */
static size_t partner_of_blend(size_t place, uint64_t step, size_t persons)
{
    return (place + 1 + (size_t)(step % (persons - 1))) % persons;
}

int face_batch_draw(const struct dataset *dataset, const struct dataset_persons_list *from,
                    const struct face_batch_options *options, uint64_t step,
                    struct face_batch_entry *ret_entries, struct err *err)
{
    size_t persons = options->persons, pictures = options->pictures;
    _cleanup_free_ struct dataset_sample *samples =
        mem_calloc(persons * pictures, sizeof(*samples));
    int result =
        dataset_draw_batch(dataset, from, options->seed, step, persons, pictures, samples, err);
    for (size_t place = 0; result == 0 && place < persons; place++) {
        bool blended = place < options->blended && persons > 1;
        const struct dataset_sample *others =
            samples + (blended ? partner_of_blend(place, step, persons) : place) * pictures;
        struct rand rand;
        rand_init_keyed(&rand, options->seed, step, BLEND_KEY_MIN + place);
        float part = WEIGHT_MIN + (1 - 2 * WEIGHT_MIN) * (float)rand_unit(&rand);
        struct augment_shape shape = augment_shape_draw(&rand, options->reshape);
        for (size_t i = 0; i < pictures; i++) {
            const struct dataset_sample *sample = &samples[place * pictures + i];
            ret_entries[place * pictures + i] = (struct face_batch_entry){
                .sample = *sample,
                .other = others[i],
                .part = blended ? part : 0,
                .shape = shape,
                .label = (int)(blended ? dataset_persons(dataset) + place : sample->person),
            };
        }
    }
    return result;
}
