/* trainer data faces: writes generated drawings of faces as picture files, so that users can try
 * the program without a data set. */
#include "cli/trainer/commands.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "cli/trainer/data_target.h"
#include "train/data/dataset.h"
#include "train/data/picture.h"

#include <stdio.h>

enum { PNG_MAX = 4 << 20 };

struct data_values {
    const char *gallery;
    const char *samples;
    int64_t persons, pictures, sample_pictures, seed, size;
};

static int write_picture(const struct dataset *dataset, size_t person, size_t picture, size_t side,
                         const char *directory, struct err *err)
{
    _cleanup_free_ uint8_t *pixels = mem_alloc(side * side * 3);
    _cleanup_free_ char *folder =
        mem_printf("%s/%s", directory, dataset_person_name(dataset, person));
    _cleanup_free_ char *path = mem_printf("%s/%03zu.png", folder, picture);
    _cleanup_buf_ struct buf png;
    buf_init(&png, PNG_MAX);
    int result = dataset_load_bytes(dataset, person, picture, side, 3, pixels, err);
    if (result == 0)
        result = picture_encode_png(pixels, side, side, 3, &png, err);
    if (result == 0)
        result = file_make_dirs(folder, 0755, err);
    if (result == 0)
        result = file_write_atomic(path, png.data, png.size, 0644, err);
    return result;
}

static int write_faces(const struct data_values *wanted, struct err *err)
{
    _cleanup_(cleanup_dataset) struct dataset *dataset = NULL;
    size_t kept = (size_t)wanted->pictures, samples = (size_t)wanted->sample_pictures;
    if (str_is_empty(wanted->gallery))
        return err_set(err, ERR_USAGE, "no target folder given: use --gallery DIR");
    int result = dataset_open_procedural((uint64_t)wanted->seed, (size_t)wanted->persons,
                                         kept + samples, &dataset, err);
    bool same_folder = str_eq(wanted->gallery, wanted->samples);
    if (result == 0)
        result = data_target_check_faces(wanted->gallery, dataset, 0,
                                         same_folder ? kept + samples : kept, err);
    if (result == 0 && !same_folder && !str_is_empty(wanted->samples))
        result = data_target_check_faces(wanted->samples, dataset, kept, kept + samples, err);
    for (size_t person = 0; result == 0 && person < dataset_persons(dataset); person++) {
        for (size_t i = 0; result == 0 && i < kept; i++)
            result = write_picture(dataset, person, i, (size_t)wanted->size, wanted->gallery, err);
        for (size_t i = 0; result == 0 && i < samples && !str_is_empty(wanted->samples); i++)
            result = write_picture(dataset, person, kept + i, (size_t)wanted->size, wanted->samples,
                                   err);
    }
    return result;
}

static int data_faces_run(const void *values, size_t count, const char *const *arguments,
                          struct err *err)
{
    (void)count, (void)arguments;
    const struct data_values *wanted = values;
    int result = write_faces(wanted, err);
    if (result < 0)
        return result;
    printf("%lld people with %lld pictures each in %s\n", (long long)wanted->persons,
           (long long)wanted->pictures, wanted->gallery);
    return 0;
}

static const struct option OPTIONS[] = {
    {.name = "gallery",
     .type = OPTION_PATH,
     .offset = offsetof(struct data_values, gallery),
     .value = "DIR",
     .help = "target folder of the pictures, with one subfolder per person"},
    {.name = "samples",
     .type = OPTION_PATH,
     .offset = offsetof(struct data_values, samples),
     .value = "DIR",
     .help = "target folder of further pictures of the same people"},
    {.name = "persons",
     .type = OPTION_INT,
     .offset = offsetof(struct data_values, persons),
     .fallback = "9",
     .min = 1,
     .max = 10000,
     .value = "N",
     .help = "number of people"},
    {.name = "pictures",
     .type = OPTION_INT,
     .offset = offsetof(struct data_values, pictures),
     .fallback = "5",
     .min = 1,
     .max = 1000,
     .value = "N",
     .help = "pictures per person in the gallery"},
    {.name = "sample-pictures",
     .type = OPTION_INT,
     .offset = offsetof(struct data_values, sample_pictures),
     .fallback = "1",
     .min = 0,
     .max = 1000,
     .value = "N",
     .help = "pictures per person in the samples"},
    {.name = "seed",
     .type = OPTION_INT,
     .offset = offsetof(struct data_values, seed),
     .fallback = "1",
     .min = 0,
     .max = INT64_MAX,
     .value = "N",
     .help = "seed of the drawn people"},
    {.name = "size",
     .type = OPTION_INT,
     .offset = offsetof(struct data_values, size),
     .fallback = "128",
     .min = 16,
     .max = 1024,
     .value = "PIXELS",
     .help = "width and height of a picture in pixels"},
    {0},
};

const struct command COMMAND_DATA_FACES = {
    .name = "faces",
    .summary = "write drawn faces as picture files",
    .description =
        "Draws people who do not exist and writes their pictures, one folder per person, so that "
        "you can try training, prediction and the page without your own data.",
    .examples = "trainer data faces --gallery people --samples others --persons 12",
    .options = OPTIONS,
    .values_size = sizeof(struct data_values),
    .run = data_faces_run,
};
