/* trainer predict: measures how well a model distinguishes people, or recognises the people in
 * pictures. */
#include "cli/trainer/commands.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "cli/trainer/predict_probes.h"
#include "models/face/eval.h"
#include "models/face/people.h"
#include "serve/face_gallery.h"
#include "train/data/picture.h"

#include <stdio.h>

enum { NEAREST = 3 /* people listed per picture */ };

struct predict_values {
    const char *model, *data, *gallery, *probes, *output, *log;
    int64_t persons, pictures, held_out, seed;
};

/* Selects all people for the evaluation. */
static int select_all_people(const struct dataset *dataset, struct dataset_split *ret,
                             struct err *err)
{
    ret->held_out.count = dataset_persons(dataset);
    ret->held_out.items = mem_calloc(ret->held_out.count + 1, sizeof(size_t));
    for (size_t i = 0; i < ret->held_out.count; i++)
        ret->held_out.items[i] = i;
    return 0;
}

static void print_evaluation_table(const struct dataset *dataset, const struct face_eval *eval)
{
    printf("%-24s %8s %14s %16s %12s\n", "PERSON", "PICTURES", "OWN DISTANCE", "NEAREST OTHER",
           "PAIRS RIGHT");
    for (size_t i = 0; i < eval->persons; i++) {
        const struct face_eval_person *row = &eval->rows[i];
        const char *name = dataset_person_name(dataset, row->person);
        printf("%-*s %8zu %14.3f %16.3f %10.1f %%\n", utf8_width(name, 24), name, row->pictures,
               row->same, row->nearest, 100 * row->correct);
    }
}

static void print_evaluation_json(const struct dataset *dataset, const struct face_eval *eval)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *line = face_eval_to_json(arena, eval);
    struct json *people = json_set(arena, line, "people", json_array(arena));
    for (size_t i = 0; i < eval->persons; i++) {
        const struct face_eval_person *row = &eval->rows[i];
        struct json *person = json_object(arena);
        json_set_string(arena, person, "name", dataset_person_name(dataset, row->person));
        json_set_int(arena, person, "pictures", (int64_t)row->pictures);
        json_set(arena, person, "ownDistance", json_real(arena, row->same));
        json_set(arena, person, "nearestOther", json_real(arena, row->nearest));
        json_set(arena, person, "pairsRight", json_real(arena, row->correct));
        json_append(people, person);
    }
    printf("%s\n", json_to_string(arena, line));
}

/* Measures how well the model distinguishes the people of --data, and prints the result. */
static int evaluate_people(const struct predict_values *values, struct face_model *model,
                           const struct people_crop *crop, struct err *err)
{
    _cleanup_(cleanup_dataset) struct dataset *dataset = NULL;
    _cleanup_(dataset_split_release) struct dataset_split split = {0};
    _cleanup_(face_eval_release) struct face_eval eval = {0};
    int result = people_open_data(values->data, crop, 1, (uint64_t)values->seed, values->persons,
                                  values->pictures, &dataset, err);
    if (result == 0)
        result = values->held_out ? dataset_split_persons(dataset, (uint64_t)values->seed,
                                                          (size_t)values->held_out, &split, err)
                                  : select_all_people(dataset, &split, err);
    if (result == 0)
        result = face_eval_run(model, dataset, &split.held_out, &eval, err);
    if (result < 0)
        return result;
    if (str_eq(values->log, "json")) {
        print_evaluation_json(dataset, &eval);
        return 0;
    }
    char text[512];
    face_eval_sentence(&eval, text, sizeof(text));
    print_evaluation_table(dataset, &eval);
    printf("%s\n", text);
    return 0;
}

/* Prints the people of the gallery that are nearest to the face on one picture. */
static int recognise_picture(struct face_model *model, const struct people_crop *crop,
                             const struct dataset *people, const struct face_gallery *gallery,
                             const char *path, bool as_json, struct err *err)
{
    size_t side = face_model_side(model), channels = face_model_channels(model);
    _cleanup_free_ float *pixels =
        mem_calloc(face_config_sample(face_model_config(model)), sizeof(float));
    _cleanup_free_ float *embedding = mem_calloc(face_model_dimensions(model), sizeof(float));
    _cleanup_(picture_release) struct picture picture = {0};
    struct picture_square square;
    int result = picture_read(path, &picture, err);
    if (result < 0)
        return result;
    result = face_crop_choose(crop->crop, crop->finder, &picture, &square, NULL, err);
    if (result == 0) {
        picture_cut(&picture, &square, side, channels, pixels);
        result = face_model_embed(model, pixels, 1, embedding, err);
    }
    if (result < 0)
        return err_wrap(err, "'%s'", path);
    struct face_match matches[NEAREST];
    size_t found = face_gallery_nearest(gallery, embedding, matches, NEAREST);
    if (as_json) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct json *line = json_object(arena);
        json_set_string(arena, line, "picture", path);
        struct json *list = json_set(arena, line, "nearest", json_array(arena));
        for (size_t i = 0; i < found; i++) {
            struct json *match = json_object(arena);
            json_set_string(arena, match, "name", dataset_person_name(people, matches[i].person));
            json_set(arena, match, "distance", json_real(arena, matches[i].distance));
            json_append(list, match);
        }
        printf("%s\n", json_to_string(arena, line));
        return 0;
    }
    printf("%s:", path);
    for (size_t i = 0; i < found; i++)
        printf("%s %s (%.3f)", i ? "," : "", dataset_person_name(people, matches[i].person),
               matches[i].distance);
    printf("\n");
    return 0;
}

static int recognise_pictures(const struct predict_values *values, struct face_model *model,
                              const struct people_crop *crop, size_t count,
                              const char *const *paths, struct err *err)
{
    _cleanup_(cleanup_dataset) struct dataset *people = NULL;
    _cleanup_(cleanup_face_gallery) struct face_gallery *gallery = NULL;
    if (count == 0)
        return err_set(err, ERR_USAGE,
                       "no pictures given: use --gallery DIR and PICTURE… or --probes DIR");
    int result = people_open(values->gallery, crop, 1, &people, err);
    if (result == 0)
        result = face_gallery_new(model, people, &gallery, err);
    for (size_t i = 0; result == 0 && i < count; i++)
        result = recognise_picture(model, crop, people, gallery, paths[i],
                                   str_eq(values->log, "json"), err);
    return result;
}

static int check_probes(const struct predict_values *wanted, size_t count, struct err *err)
{
    if (str_is_empty(wanted->probes) && !str_is_empty(wanted->output))
        return err_set(err, ERR_USAGE, "--output '%s' needs --probes DIR", wanted->output);
    if (str_is_empty(wanted->probes))
        return 0;
    if (str_is_empty(wanted->gallery) || count)
        return err_set(err, ERR_USAGE,
                       count ? "--probes '%s' cannot be combined with single pictures"
                             : "no gallery given for --probes '%s': use --gallery DIR",
                       wanted->probes);
    return 0;
}

static int predict_run(const void *values, size_t count, const char *const *arguments,
                       struct err *err)
{
    const struct predict_values *wanted = values;
    _cleanup_(cleanup_face_model) struct face_model *model = NULL;
    _cleanup_(people_crop_release) struct people_crop crop = {0};
    int result;
    if (str_is_empty(wanted->model))
        result = err_set(err, ERR_USAGE, "no model given: use --model FILE");
    else if (count && str_is_empty(wanted->gallery))
        result =
            err_set(err, ERR_USAGE, "no gallery given for '%s': use --gallery DIR", arguments[0]);
    else
        result = check_probes(wanted, count, err);
    if (result == 0)
        result = face_model_load(wanted->model, &model, err);
    if (result == 0)
        result = people_crop_open(face_model_config(model)->crop, &crop, err);
    if (result < 0)
        return result;
    if (!str_is_empty(wanted->probes))
        return predict_probes_run(model, &crop, wanted->gallery, wanted->probes, wanted->output,
                                  str_eq(wanted->log, "json"), err);
    return str_is_empty(wanted->gallery)
               ? evaluate_people(wanted, model, &crop, err)
               : recognise_pictures(wanted, model, &crop, count, arguments, err);
}

#define FIELD(name) .offset = offsetof(struct predict_values, name)

static const struct option OPTIONS[] = {
    {.name = "model",
     .type = OPTION_PATH,
     FIELD(model),
     .value = "FILE",
     .help = "model file or checkpoint"},
    {.name = "data",
     .type = OPTION_PATH,
     FIELD(data),
     .environment = "TRAINER_DATA|TF_DATA_DIR",
     .fallback = "procedural",
     .value = "DIR",
     .help = "folder with one subfolder per person, or 'procedural' for drawn people"},
    {.name = "persons",
     .type = OPTION_INT,
     FIELD(persons),
     .fallback = "20",
     .min = 2,
     .max = DATASET_PERSONS_MAX,
     .value = "N",
     .help = "number of drawn people"},
    {.name = "pictures",
     .type = OPTION_INT,
     FIELD(pictures),
     .fallback = "12",
     .min = 2,
     .max = DATASET_PICTURES_MAX,
     .value = "N",
     .help = "pictures per drawn person"},
    {.name = "held-out",
     .type = OPTION_INT,
     FIELD(held_out),
     .fallback = "0",
     .min = 0,
     .max = DATASET_PERSONS_MAX,
     .value = "N",
     .help =
         "evaluate only the people that training with this --held-out and --seed held out; 0: all"},
    {.name = "seed",
     .type = OPTION_INT,
     FIELD(seed),
     .fallback = "2",
     .min = 0,
     .max = INT64_MAX,
     .value = "N",
     .help = "seed of the drawn people and of the choice of held-out people"},
    {.name = "gallery",
     .type = OPTION_PATH,
     FIELD(gallery),
     .value = "DIR",
     .help = "find the nearest of these people, one folder per person, for every PICTURE or probe"},
    {.name = "probes",
     .type = OPTION_PATH,
     FIELD(probes),
     .value = "DIR",
     .help = "folder with one subfolder per person, or with pictures, to compare with the gallery"},
    {.name = "output",
     .type = OPTION_PATH,
     FIELD(output),
     .value = "DIR",
     .help = "with --probes: folder for distances.png, roc.csv, roc.svg and prediction.json"},
    {.name = "log",
     .type = OPTION_CHOICE,
     FIELD(log),
     .environment = "TRAINER_LOG",
     .fallback = "plain",
     .choices = "auto|plain|json",
     .value = "FORM",
     .help = "text or JSON"},
    {0},
};

const struct command COMMAND_PREDICT = {
    .name = "predict",
    .arguments = "[PICTURE…]",
    .summary = "evaluate a face model, or recognise people on pictures",
    .description =
        "Without --gallery: evaluates how well the model tells the people of --data apart, person "
        "by person, compared with raw pixels on the same pairs.\n\nWith --gallery: prints the "
        "three nearest people of the gallery for every picture, with their distances.\n\nWith "
        "--gallery and --probes: prints which probes are recognised correctly, person by person "
        "(folders of the same name are the same person), and how well pairs of one person are told "
        "from pairs of two. --output writes the distances as a picture, and the ROC curve.",
    .examples =
        "trainer predict --model faces/face.model --data procedural --seed 2\n"
        "trainer predict --model faces/face.model --gallery people others/ada/005.png\n"
        "trainer predict --model faces/face.model --gallery people --probes others --output "
        "judgement",
    .options = OPTIONS,
    .values_size = sizeof(struct predict_values),
    .arguments_max = SIZE_MAX,
    .arguments_are_paths = true,
    .run = predict_run,
};
