/* trainer data inspect: describes a data set before it is used for training. Reads every file, and
 * changes none. */
#include "cli/trainer/commands.h"

#include "base/json/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "models/face/people.h"
#include "train/data/idx.h"

#include <stdio.h>

enum { SIZES = 5 /* sizes of pictures in the text output; JSON lists all of them */ };

struct inspect_values {
    const char *data, *crop, *log;
};

/* ---- Pictures of people */

struct picture_size {
    size_t width, height, count;
};

struct inspection {
    size_t persons, pictures; /* number of persons, and of their picture files */
    size_t decoded, faces;    /* number of files that are pictures, and of those with a face */
    size_t fewest, most;      /* pictures per person */
    size_t formats[PICTURE_FORMATS];
    struct picture_size *sizes; /* most frequent first */
    size_t size_count;
    char **reasons; /* one per picture that cannot be used */
    size_t left_out;
};

static void inspection_release(struct inspection *inspection)
{
    for (size_t i = 0; i < inspection->left_out; i++)
        free(inspection->reasons[i]);
    free(inspection->reasons);
    free(inspection->sizes);
}

static void count_size(struct inspection *inspection, const struct picture *picture)
{
    size_t at = 0;
    while (at < inspection->size_count && (inspection->sizes[at].width != picture->width ||
                                           inspection->sizes[at].height != picture->height))
        at++;
    if (at == inspection->size_count) {
        inspection->sizes = mem_realloc(inspection->sizes, (at + 1) * sizeof(*inspection->sizes));
        inspection->sizes[at] = (struct picture_size){picture->width, picture->height, 0};
        inspection->size_count++;
    }
    inspection->sizes[at].count++;
}

static int by_count(const void *a, const void *b)
{
    size_t x = ((const struct picture_size *)a)->count, y = ((const struct picture_size *)b)->count;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void inspect_file(struct inspection *inspection, const struct people_crop *crop,
                         const char *path)
{
    _cleanup_buf_ struct buf file;
    _cleanup_(picture_release) struct picture picture = {0};
    struct err err = ERR_INIT;
    struct picture_square square;
    size_t faces = 0;
    buf_init(&file, PICTURE_FILE_MAX);
    int result = file_read(path, &file, &err);
    if (result == 0) {
        inspection->formats[picture_format(file.data, file.size)]++;
        result = picture_decode(file.data, file.size, &picture, &err);
        if (result == 0) {
            inspection->decoded++;
            count_size(inspection, &picture);
            result = face_crop_choose(crop->crop, crop->finder, &picture, &square, &faces, &err);
            inspection->faces += faces > 0;
        }
        if (result < 0)
            err_wrap(&err, "'%s'", path);
    }
    if (result < 0) {
        size_t at = inspection->left_out++;
        inspection->reasons =
            mem_realloc(inspection->reasons, (at + 1) * sizeof(*inspection->reasons));
        inspection->reasons[at] = mem_strdup(err.message);
    }
}

static void inspect_people(const struct dataset *dataset, const struct people_crop *crop,
                           struct inspection *inspection)
{
    inspection->persons = dataset_persons(dataset);
    inspection->pictures = dataset_total(dataset);
    inspection->fewest = SIZE_MAX;
    for (size_t person = 0; person < inspection->persons; person++) {
        size_t count = dataset_pictures(dataset, person);
        inspection->fewest = count < inspection->fewest ? count : inspection->fewest;
        inspection->most = count > inspection->most ? count : inspection->most;
        for (size_t i = 0; i < count; i++) {
            char path[4096];
            dataset_picture_name(dataset, person, i, path, sizeof(path));
            inspect_file(inspection, crop, path);
        }
    }
    if (inspection->size_count)
        qsort(inspection->sizes, inspection->size_count, sizeof(*inspection->sizes), by_count);
}

static void print_people(const struct inspection *inspection, const struct people_crop *crop,
                         const char *path)
{
    printf("%s: %zu %s, %zu picture%s, ", path, inspection->persons,
           inspection->persons == 1 ? "person" : "people", inspection->pictures,
           inspection->pictures == 1 ? "" : "s");
    if (inspection->fewest < inspection->most)
        printf("from %zu to ", inspection->fewest);
    printf("%zu per person\n", inspection->most);
    printf("formats:");
    const char *comma = "";
    for (size_t i = 0; i < PICTURE_FORMATS; i++)
        if (inspection->formats[i]) {
            printf("%s %zu %s", comma, inspection->formats[i],
                   picture_format_name((enum picture_format)i));
            comma = ",";
        }
    printf("\nsizes:");
    for (size_t i = 0; i < inspection->size_count && i < SIZES; i++)
        printf("%s %zu of %zu×%zu", i ? "," : "", inspection->sizes[i].count,
               inspection->sizes[i].width, inspection->sizes[i].height);
    if (inspection->size_count > SIZES)
        printf(", and %zu more sizes", inspection->size_count - SIZES);
    printf("\n");
    if (crop->crop != FACE_CROP_OFF)
        printf("faces: found on %zu of %zu\n", inspection->faces, inspection->decoded);
    if (inspection->left_out)
        printf("cannot be used: %zu\n", inspection->left_out);
    for (size_t i = 0; i < inspection->left_out; i++)
        printf("  %s\n", inspection->reasons[i]);
}

static void print_people_json(const struct inspection *inspection, const struct people_crop *crop)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *json = json_object(arena);
    json_set_string(arena, json, "kind", "people");
    json_set_int(arena, json, "persons", (int64_t)inspection->persons);
    json_set_int(arena, json, "pictures", (int64_t)inspection->pictures);
    json_set_int(arena, json, "decoded", (int64_t)inspection->decoded);
    if (crop->crop != FACE_CROP_OFF)
        json_set_int(arena, json, "faces", (int64_t)inspection->faces);
    struct json *formats = json_set(arena, json, "formats", json_object(arena));
    for (size_t i = 0; i < PICTURE_FORMATS; i++)
        if (inspection->formats[i])
            json_set_int(arena, formats, picture_format_name((enum picture_format)i),
                         (int64_t)inspection->formats[i]);
    struct json *sizes = json_set(arena, json, "sizes", json_array(arena));
    for (size_t i = 0; i < inspection->size_count; i++) {
        struct json *size = json_object(arena);
        json_set_int(arena, size, "width", (int64_t)inspection->sizes[i].width);
        json_set_int(arena, size, "height", (int64_t)inspection->sizes[i].height);
        json_set_int(arena, size, "pictures", (int64_t)inspection->sizes[i].count);
        json_append(sizes, size);
    }
    struct json *reasons = json_set(arena, json, "cannotBeUsed", json_array(arena));
    for (size_t i = 0; i < inspection->left_out; i++)
        json_append(reasons, json_string(arena, inspection->reasons[i]));
    printf("%s\n", json_to_string(arena, json));
}

/* ---- IDX files */

static int inspect_idx(const char *path, bool as_json, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *json = json_object(arena);
    json_set_string(arena, json, "kind", "idx");
    for (enum idx_part part = IDX_TRAIN; part <= IDX_TEST; part++) {
        _cleanup_(cleanup_idx) struct idx *idx = NULL;
        int result = idx_open(path, part, &idx, err);
        if (result < 0)
            return result;
        const char *name = part == IDX_TRAIN ? "train" : "test";
        size_t counts[256] = {0};
        for (size_t i = 0; i < idx->count; i++)
            counts[idx->labels[i]]++;
        struct json *of = json_set(arena, json, name, json_object(arena));
        json_set_int(arena, of, "pictures", (int64_t)idx->count);
        json_set_int(arena, of, "width", idx->width);
        json_set_int(arena, of, "height", idx->height);
        struct json *classes = json_set(arena, of, "classes", json_array(arena));
        if (!as_json)
            printf("%s: %zu pictures of %d×%d, %d classes\n", name, idx->count, idx->width,
                   idx->height, idx->classes);
        for (int label = 0; label < idx->classes; label++) {
            char text[64];
            json_append(classes, json_int(arena, (int64_t)counts[label]));
            if (!as_json)
                printf("  %-16s %zu\n", idx_label_name(path, label, text, sizeof(text)),
                       counts[label]);
        }
    }
    if (as_json)
        printf("%s\n", json_to_string(arena, json));
    return 0;
}

static int data_inspect_run(const void *values, size_t count, const char *const *arguments,
                            struct err *err)
{
    const struct inspect_values *wanted = values;
    const char *path = count ? arguments[0] : wanted->data;
    if (str_is_empty(path))
        return err_set(err, ERR_USAGE, "no data set given: use --data DIR");
    bool as_json = str_eq(wanted->log, "json");
    if (idx_is_directory(path))
        return inspect_idx(path, as_json, err);
    _cleanup_(cleanup_dataset) struct dataset *dataset = NULL;
    _cleanup_(people_crop_release) struct people_crop crop = {0};
    _cleanup_(inspection_release) struct inspection inspection = {0};
    enum face_crop how = FACE_CROP_OFF;
    int result = dataset_open_folder(path, &dataset, err);
    if (result == 0)
        result = face_crop_from_name(wanted->crop, &how, err);
    if (result == 0)
        result = people_crop_open(how, &crop, err);
    if (result < 0)
        return result;
    inspect_people(dataset, &crop, &inspection);
    if (as_json)
        print_people_json(&inspection, &crop);
    else
        print_people(&inspection, &crop, path);
    return 0;
}

static const struct option OPTIONS[] = {
    {.name = "data",
     .aliases = "data-dir",
     .type = OPTION_PATH,
     .offset = offsetof(struct inspect_values, data),
     .environment = "TRAINER_DATA|TF_DATA_DIR",
     .value = "DIR",
     .help = "the data set; the argument DIR takes precedence"},
    {.name = "crop",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct inspect_values, crop),
     .fallback = "off",
     .choices = "auto|off|cascade",
     .value = "HOW",
     .help = "auto or cascade: also count the pictures on which a face is found; cascade: pictures "
             "without a face count as unusable"},
    {.name = "log",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct inspect_values, log),
     .environment = "TRAINER_LOG",
     .fallback = "plain",
     .choices = "auto|plain|json",
     .value = "FORM",
     .help = "text or JSON"},
    {0},
};

const struct command COMMAND_DATA_INSPECT = {
    .name = "inspect",
    .arguments = "[DIR]",
    .summary = "describe a data set",
    .description = "For a folder with one subfolder per person: people, pictures, formats, sizes, "
                   "and the names of the pictures that cannot be used. For a folder of IDX files: "
                   "pictures, sizes and the number of pictures per class.",
    .examples = "trainer data inspect --data people --crop auto\n"
                "trainer data inspect " IDX_DIRECTORY_DEFAULT,
    .options = OPTIONS,
    .values_size = sizeof(struct inspect_values),
    .arguments_max = 1,
    .arguments_are_paths = true,
    .run = data_inspect_run,
};
