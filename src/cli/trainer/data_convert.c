/* trainer data convert: crops pictures of people to their faces, so that training need not do it
 * again, or converts classes of pictures from IDX files to folders and back. The source is never
 * changed. */
#include "cli/trainer/commands.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "cli/trainer/data_target.h"
#include "models/face/people.h"
#include "train/data/idx.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MAX = 8 << 20 };

struct convert_values {
    const char *crop, *format;
    int64_t size, threads;
    bool colour, idx;
};

/* Writes one picture of a person or class into its folder. */
static int write_picture(const char *directory, const char *name, size_t number, const char *format,
                         const uint8_t *pixels, size_t width, size_t height, size_t channels,
                         struct err *err)
{
    bool png = str_eq(format, "png");
    _cleanup_free_ char *folder = mem_printf("%s/%s", directory, name);
    _cleanup_free_ char *path = mem_printf("%s/%05zu.%s", folder, number,
                                           png             ? "png"
                                           : channels == 3 ? "ppm"
                                                           : "pgm");
    _cleanup_buf_ struct buf file;
    buf_init(&file, FILE_MAX);
    int result = file_make_dirs(folder, 0755, err);
    if (result == 0 && png)
        result = picture_encode_png(pixels, width, height, channels, &file, err);
    if (result == 0 && !png) {
        buf_printf(&file, "P%c\n%zu %zu\n255\n", channels == 3 ? '6' : '5', width, height);
        buf_append(&file, pixels, width * height * channels);
    }
    /* The files are not synced, because there may be thousands, and an interrupted conversion is
     * repeated anyway. */
    return result < 0 ? result : file_replace(path, file.data, file.size, 0644, err);
}

static int convert_people(const struct convert_values *wanted, const char *from, const char *to,
                          struct err *err)
{
    _cleanup_(cleanup_dataset) struct dataset *dataset = NULL;
    _cleanup_(people_crop_release) struct people_crop crop = {0};
    enum face_crop how = FACE_CROP_AUTO;
    int result = face_crop_from_name(wanted->crop, &how, err);
    if (result == 0)
        result = people_crop_open(how, &crop, err);
    if (result == 0)
        result = people_open(from, &crop, (int)wanted->threads, &dataset, err);
    size_t side = (size_t)wanted->size, channels = wanted->colour ? 3 : 1;
    _cleanup_free_ uint8_t *pixels = mem_alloc(side * side * channels);
    for (size_t person = 0; result == 0 && person < dataset_persons(dataset); person++)
        for (size_t i = 0; result == 0 && i < dataset_pictures(dataset, person); i++) {
            result = dataset_load_bytes(dataset, person, i, side, channels, pixels, err);
            if (result == 0)
                result = write_picture(to, dataset_person_name(dataset, person), i, wanted->format,
                                       pixels, side, side, channels, err);
        }
    if (result < 0)
        return result;
    printf("%zu pictures of %zu people, %zu×%zu, in %s; train on them with --crop off\n",
           dataset_total(dataset), dataset_persons(dataset), side, side, to);
    return 0;
}

/* ---- IDX files */

static const char *part_name(enum idx_part part)
{
    return part == IDX_TRAIN ? "train" : "test";
}

static int unpack_idx(const struct convert_values *wanted, const char *from, const char *to,
                      struct err *err)
{
    size_t written = 0;
    for (enum idx_part part = IDX_TRAIN; part <= IDX_TEST; part++) {
        _cleanup_(cleanup_idx) struct idx *idx = NULL;
        _cleanup_free_ char *directory = mem_printf("%s/%s", to, part_name(part));
        int result = idx_open(from, part, &idx, err);
        for (size_t i = 0; result == 0 && i < idx->count; i++, written++) {
            char label[8];
            size_t width = (size_t)idx->width, height = (size_t)idx->height;
            snprintf(label, sizeof(label), "%d", idx->labels[i]);
            result = write_picture(directory, label, i, wanted->format,
                                   idx->pixels + i * width * height, width, height, 1, err);
        }
        if (result < 0)
            return result;
    }
    printf("%zu pictures in %s/train and %s/test, one folder per label\n", written, to, to);
    return 0;
}

/* Sets the label of a class: the position of its folder in FROM/train, ordered by name, also for
 * the test part. A folder whose pictures are all damaged counts, so that it does not shift the
 * labels of the others. A folder without picture files does not count. */
static int find_label(const struct dataset *classes, const char *from, const char *name,
                      uint8_t *ret_label, struct err *err)
{
    for (size_t i = 0; i < dataset_persons(classes); i++)
        if (str_eq(dataset_person_name(classes, i), name)) {
            *ret_label = (uint8_t)i;
            return 0;
        }
    return err_set(err, ERR_NOT_FOUND,
                   "'%s/test' has the class '%s', but '%s/train' does not: add pictures of it "
                   "there, or remove it",
                   from, name, from);
}

/* Reads the pictures of one part of FROM as grey pictures with labels. The caller frees ret->pixels
 * and ret->labels, after a failure, too. */
static int read_part(const struct convert_values *wanted, const char *from, enum idx_part part,
                     const struct dataset *classes, struct idx *ret, struct err *err)
{
    _cleanup_(cleanup_dataset) struct dataset *dataset = NULL;
    _cleanup_free_ char *directory = mem_printf("%s/%s", from, part_name(part));
    const struct people_crop plain = {.crop = FACE_CROP_OFF};
    int result = people_open(directory, &plain, (int)wanted->threads, &dataset, err);
    if (result < 0)
        return result;
    size_t side = (size_t)wanted->size, count = dataset_total(dataset), at = 0;
    *ret = (struct idx){
        .count = count,
        .height = (int)side,
        .width = (int)side,
        .pixels = mem_alloc(count * side * side),
        .labels = mem_alloc(count),
    };
    for (size_t folder = 0; result == 0 && folder < dataset_persons(dataset); folder++) {
        uint8_t label = 0;
        result = find_label(classes, from, dataset_person_name(dataset, folder), &label, err);
        for (size_t i = 0; result == 0 && i < dataset_pictures(dataset, folder); i++, at++) {
            ret->labels[at] = label;
            result = dataset_load_bytes(dataset, folder, i, side, 1, ret->pixels + at * side * side,
                                        err);
        }
    }
    return result;
}

static int pack_idx(const struct convert_values *wanted, const char *from, const char *to,
                    struct err *err)
{
    _cleanup_(cleanup_dataset) struct dataset *classes = NULL;
    _cleanup_free_ char *train = mem_printf("%s/%s", from, part_name(IDX_TRAIN));
    struct idx parts[] = {[IDX_TRAIN] = {0}, [IDX_TEST] = {0}};
    int result = dataset_open_folder(train, &classes, err);
    if (result == 0 && dataset_persons(classes) > 256)
        result = err_set(err, ERR_TOO_MANY,
                         "'%s' has %zu folders, but IDX files have at most 256 labels", train,
                         dataset_persons(classes));
    /* Reads both parts before writing any file, because an incomplete data set looks like a
     * complete one. */
    for (enum idx_part part = IDX_TRAIN; result == 0 && part <= IDX_TEST; part++)
        result = read_part(wanted, from, part, classes, &parts[part], err);
    if (result == 0)
        result = file_make_dirs(to, 0755, err);
    for (enum idx_part part = IDX_TRAIN; result == 0 && part <= IDX_TEST; part++)
        result = idx_write(&parts[part], to, part, err);
    if (result == 0)
        printf("%zu pictures of %lld×%lld in four IDX files in %s\n",
               parts[IDX_TRAIN].count + parts[IDX_TEST].count, (long long)wanted->size,
               (long long)wanted->size, to);
    for (enum idx_part part = IDX_TRAIN; part <= IDX_TEST; part++) {
        free(parts[part].pixels);
        free(parts[part].labels);
    }
    return result;
}

/* ---- The source */

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Refuses a target that is the source or lies inside it, even through symbolic links or if the
 * target does not exist yet. */
static int check_outside(const char *to, const char *from, struct err *err)
{
    struct stat source, at, above;
    _cleanup_free_ char *path = mem_printf("%s%s", to[0] == '/' ? "" : "./", to);
    if (stat(from, &source) < 0)
        return 0; /* opening the source reports this error later */
    bool itself = stat(path, &at) == 0 && is_same_file(&at, &source);
    for (char *slash; stat(path, &at) < 0 && (slash = strrchr(path, '/'));) {
        if (str_eq(slash, "/.."))
            return err_set(err, ERR_USAGE,
                           "'%s' has '..' in a folder that does not exist: write it without '..'",
                           to);
        slash[slash == path] = '\0';
    }
    while (!is_same_file(&at, &source)) {
        char *up = mem_printf("%s/..", path);
        free(path);
        path = up;
        if (stat(path, &above) < 0 || is_same_file(&above, &at))
            return 0; /* reached the root directory */
        at = above;
    }
    return itself ? err_set(err, ERR_USAGE,
                            "'%s' would be written over itself: name another folder", to)
                  : err_set(
                        err, ERR_USAGE,
                        "'%s' lies in '%s', which must not be changed: name a folder outside of it",
                        to, from);
}

static int data_convert_run(const void *values, size_t count, const char *const *arguments,
                            struct err *err)
{
    (void)count;
    const struct convert_values *wanted = values;
    const char *from = arguments[0], *to = arguments[1];
    bool unpacks = !wanted->idx && idx_is_directory(from);
    int result = check_outside(to, from, err);
    for (enum idx_part part = IDX_TRAIN; unpacks && result == 0 && part <= IDX_TEST; part++) {
        _cleanup_free_ char *directory = mem_printf("%s/%s", to, part_name(part));
        result = check_outside(directory, from, err);
    }
    if (result == 0)
        result = data_target_check_empty(to, err);
    if (result < 0)
        return result;
    return wanted->idx ? pack_idx(wanted, from, to, err)
           : unpacks   ? unpack_idx(wanted, from, to, err)
                       : convert_people(wanted, from, to, err);
}

#define FIELD(name) .offset = offsetof(struct convert_values, name)

static const struct option OPTIONS[] = {
    PEOPLE_CROP_OPTION(offsetof(struct convert_values, crop), "auto"),
    {.name = "size",
     .type = OPTION_INT,
     FIELD(size),
     .fallback = "128",
     .min = 8,
     .max = 1024,
     .value = "PIXELS",
     .help = "width and height of the written pictures, in pixels; pictures from IDX files keep "
             "their size"},
    {.name = "format",
     .type = OPTION_CHOICE,
     FIELD(format),
     .fallback = "png",
     .choices = "png|pgm",
     .value = "KIND",
     .help = "format of the files; colour pictures in pgm become ppm"},
    {.name = "colour",
     .type = OPTION_FLAG,
     FIELD(colour),
     .help = "write colour pictures; default: grey"},
    {.name = "idx",
     .type = OPTION_FLAG,
     FIELD(idx),
     .help = "write IDX files from FROM/train and FROM/test, which have one folder per label"},
    {.name = "threads",
     .type = OPTION_INT,
     FIELD(threads),
     .environment = "TRAINER_THREADS",
     .fallback = "1",
     .min = 1,
     .max = DATASET_SURVEY_THREADS_MAX,
     .value = "N",
     .help = "threads that look for faces"},
    {0},
};

const struct command COMMAND_DATA_CONVERT = {
    .name = "convert",
    .arguments = "FROM TO",
    .summary = "cut pictures to their faces, or convert IDX files to folders and back",
    .description =
        "Converts a folder with one subfolder per person into another one, with pictures of one "
        "size that are cut to their faces. Training on it with --crop off need not search for "
        "faces.\n\nConverts a "
        "folder of IDX files into TO/train and TO/test with one folder per label. --idx converts "
        "in the other direction; the labels follow the order of the folder names in FROM/train.",
    .examples = "trainer data convert photographs portraits --size 96 --crop cascade\n"
                "trainer data convert " IDX_DIRECTORY_DEFAULT " pictures\n"
                "trainer data convert pictures data --idx --size 28",
    .options = OPTIONS,
    .values_size = sizeof(struct convert_values),
    .arguments_min = 2,
    .arguments_max = 2,
    .arguments_are_paths = true,
    .run = data_convert_run,
};
