/* Implements the opening of pictures of people; see people.h. */
#include "models/face/people.h"

#include "base/str.h"

#include <stdio.h>

int people_crop_open(enum face_crop crop, struct people_crop *ret, struct err *err)
{
    *ret = (struct people_crop){.crop = crop};
    int result = face_crop_open(&ret->crop, &ret->finder, err);
    if (result == 0 && ret->crop != crop) {
        fprintf(stderr, "trainer: %s; pictures are cropped to the centre\n", err->message);
        err_clear(err);
    }
    return result;
}

void people_crop_release(struct people_crop *crop)
{
    face_finder_free(crop->finder);
    *crop = (struct people_crop){0};
}

bool people_are_drawn(const char *data)
{
    return str_eq(data, "procedural");
}

/* Returns whether `faces` is at least three quarters of `pictures`. */
static bool faces_prevail(size_t faces, size_t pictures)
{
    return faces >= pictures - pictures / 4;
}

/* Decodes the pictures of `opened`, leaves out those that cannot be used, and reports them on
 * standard error. Takes ownership of `opened`, which becomes *ret. If ret_few_faces is not NULL,
 * sets it to whether fewer than three quarters of the pictures show a face. */
static int survey_people(struct dataset *opened, const char *folder, const struct people_crop *crop,
                         int threads, bool *ret_few_faces, struct dataset **ret, struct err *err)
{
    _cleanup_(cleanup_dataset) struct dataset *dataset = opened;
    _cleanup_(dataset_survey_release) struct dataset_survey survey = {0};
    struct dataset_survey_options options = {
        .crop = crop->crop, .finder = crop->finder, .threads = threads};
    int result = dataset_survey_run(dataset, &options, &survey, err);
    if (result < 0)
        return err_wrap(err, "'%s'", folder);
    char text[2048];
    dataset_survey_sentence(&survey, text, sizeof(text));
    if (text[0])
        fprintf(stderr, "trainer: '%s': %s\n", folder, text);
    if (survey.left_out > survey.named)
        fprintf(stderr, "trainer: 'trainer data inspect%s %s' lists all of them\n",
                crop->crop == FACE_CROP_CASCADE ? " --crop cascade" : "", folder);
    size_t left = survey.pictures - survey.left_out;
    bool few = !faces_prevail(survey.faces, left);
    if (crop->crop == FACE_CROP_AUTO && survey.faces < left)
        fprintf(
            stderr,
            "trainer: '%s': no face was found on %zu of %zu pictures: %s cropped to the centre\n",
            folder, left - survey.faces, left, ret_few_faces && few ? "all are" : "they are");
    if (ret_few_faces)
        *ret_few_faces = few;
    *ret = TAKE(dataset);
    return 0;
}

int people_open(const char *folder, const struct people_crop *crop, int threads,
                struct dataset **ret, struct err *err)
{
    struct dataset *dataset = NULL;
    int result = dataset_open_folder(folder, &dataset, err);
    return result < 0 ? result : survey_people(dataset, folder, crop, threads, NULL, ret, err);
}

int people_open_any(const char *folder, const struct people_crop *crop, int threads,
                    struct dataset **ret, struct err *err)
{
    struct dataset *dataset = NULL;
    struct err none = ERR_INIT;
    int result = dataset_open_folder(folder, &dataset, err);
    if (result == -ERR_NOT_FOUND && dataset_open_pictures(folder, &dataset, &none) == 0)
        result = 0;
    return result < 0 ? result : survey_people(dataset, folder, crop, threads, NULL, ret, err);
}

int people_open_training(const char *folder, struct people_crop *crop, int threads,
                         struct dataset **ret, struct err *err)
{
    struct dataset *dataset = NULL;
    bool few = false;
    int result = dataset_open_folder(folder, &dataset, err);
    if (result == 0)
        result = survey_people(dataset, folder, crop, threads, &few, ret, err);
    if (result == 0 && crop->crop == FACE_CROP_AUTO && few) {
        dataset_survey_forget_faces(*ret);
        crop->crop = FACE_CROP_OFF;
    }
    return result;
}

bool people_are_photographs(const struct dataset *people, const struct face_finder *finder)
{
    enum { EXAMINED_MAX = 64 };
    size_t total = dataset_total(people), every = total / EXAMINED_MAX + 1, at = 0;
    size_t examined = 0, faces = 0;
    for (size_t person = 0; finder && person < dataset_persons(people); person++)
        for (size_t i = 0; i < dataset_pictures(people, person); i++) {
            char path[4096];
            _cleanup_(picture_release) struct picture picture = {0};
            struct picture_square square;
            if (at++ % every)
                continue;
            dataset_picture_name(people, person, i, path, sizeof(path));
            examined++;
            faces += picture_read(path, &picture, NULL) == 0 &&
                     face_finder_find(finder, &picture, &square) > 0;
        }
    return examined && faces_prevail(faces, examined);
}

int people_open_data(const char *data, const struct people_crop *crop, int threads, uint64_t seed,
                     int64_t persons, int64_t pictures, struct dataset **ret, struct err *err)
{
    if (people_are_drawn(data))
        return dataset_open_procedural(seed, (size_t)persons, (size_t)pictures, ret, err);
    return people_open(data, crop, threads, ret, err);
}
