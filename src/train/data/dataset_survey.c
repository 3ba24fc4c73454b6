/* Implements the survey; see dataset_survey.h. Several threads examine the pictures and record
 * their findings. Afterwards the calling thread removes the unusable pictures, in the order of the
 * data set. */
#include "train/data/dataset_survey.h"

#include "base/mem.h"
#include "base/system/thread.h"
#include "train/data/dataset_internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* What an examination of one picture has found. */
struct finding {
    const char *path;
    struct picture_square square; /* the part to which the picture is cropped */
    size_t faces;                 /* number of faces */
    char *reason;                 /* why the picture cannot be used; NULL: it is usable */
};

struct work {
    const struct dataset_survey_options *options;
    struct finding *findings;
    size_t count;
    atomic_size_t next; /* the next picture that a thread examines */
};

static void examine_picture(const struct dataset_survey_options *options, struct finding *finding)
{
    _cleanup_(picture_release) struct picture picture = {0};
    struct err err = ERR_INIT;
    int result = picture_read(finding->path, &picture, &err);
    if (result == 0) {
        result = face_crop_choose(options->crop, options->finder, &picture, &finding->square,
                                  &finding->faces, &err);
        if (result < 0)
            result = err_wrap(&err, "'%s'", finding->path);
    }
    if (result < 0)
        finding->reason = mem_strdup(err.message);
}

static void *examine_pictures(void *argument)
{
    struct work *work = argument;
    for (size_t i; (i = atomic_fetch_add(&work->next, 1)) < work->count;)
        examine_picture(work->options, &work->findings[i]);
    return NULL;
}

/* Examines all pictures. The calling thread works, too, so a thread that cannot be started is no
 * error. */
static void examine_all(struct work *work)
{
    pthread_t threads[DATASET_SURVEY_THREADS_MAX];
    int started = 0, wanted = work->options->threads - 1;
    wanted = wanted < DATASET_SURVEY_THREADS_MAX ? wanted : DATASET_SURVEY_THREADS_MAX;
    while (started < wanted &&
           thread_start(&threads[started], "survey", "a thread", examine_pictures, work, NULL) == 0)
        started++;
    examine_pictures(work);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* Removes the unusable pictures of a person, and counts them. If keep_squares is set, stores the
 * squares of the other pictures. */
static void drop_unusable_of_person(struct person *person, struct finding *findings,
                                    bool keep_squares, struct dataset_survey *survey)
{
    size_t kept = 0;
    if (keep_squares)
        person->squares = mem_calloc(person->count, sizeof(*person->squares));
    for (size_t i = 0; i < person->count; i++) {
        struct finding *finding = &findings[i];
        survey->faces += finding->faces > 0;
        if (!finding->reason) {
            if (keep_squares)
                person->squares[kept] = finding->square;
            person->files[kept++] = person->files[i];
            continue;
        }
        free(person->files[i]);
        survey->left_out++;
        if (survey->named < DATASET_SURVEY_NAMED)
            survey->reasons[survey->named++] = finding->reason;
        else
            free(finding->reason);
    }
    person->count = kept;
}

static void drop_unusable(struct dataset *dataset, struct finding *findings, bool keep_squares,
                          struct dataset_survey *survey)
{
    size_t kept = 0;
    for (size_t i = 0; i < dataset->count; i++) {
        struct person *person = &dataset->persons[i];
        size_t before = person->count;
        drop_unusable_of_person(person, findings, keep_squares, survey);
        findings += before;
        dataset->total -= before - person->count;
        if (person->count > 0) {
            dataset->persons[kept++] = *person;
        } else {
            survey->persons_left_out++;
            free(person->name);
            free(person->files);
            free(person->squares);
        }
    }
    dataset->count = kept;
}

int dataset_survey_run(struct dataset *dataset, const struct dataset_survey_options *options,
                       struct dataset_survey *ret, struct err *err)
{
    struct dataset_survey survey = {0};
    if (!dataset->generated) {
        struct work work = {.options = options, .count = dataset->total};
        work.findings = mem_calloc(dataset->total, sizeof(*work.findings));
        size_t at = 0;
        for (size_t person = 0; person < dataset->count; person++)
            for (size_t i = 0; i < dataset->persons[person].count; i++)
                work.findings[at++].path = dataset->persons[person].files[i];
        survey.pictures = dataset->total;
        examine_all(&work);
        drop_unusable(dataset, work.findings, options->crop != FACE_CROP_OFF, &survey);
        free(work.findings);
    }
    if (dataset->count == 0) {
        int result =
            err_set(err, ERR_INVALID, "none of %zu pictures can be used; the first error: %s",
                    survey.pictures, survey.reasons[0]);
        dataset_survey_release(&survey);
        return result;
    }
    *ret = survey;
    return 0;
}

void dataset_survey_forget_faces(struct dataset *dataset)
{
    for (size_t i = 0; i < dataset->count; i++) {
        free(dataset->persons[i].squares);
        dataset->persons[i].squares = NULL;
    }
}

void dataset_survey_release(struct dataset_survey *survey)
{
    for (size_t i = 0; i < survey->named; i++)
        free(survey->reasons[i]);
    *survey = (struct dataset_survey){0};
}

void dataset_survey_sentence(const struct dataset_survey *survey, char *text, size_t size)
{
    if (size)
        *text = '\0';
    if (survey->left_out == 0)
        return;
    int used = snprintf(text, size, "%zu of %zu pictures cannot be used and %s left out",
                        survey->left_out, survey->pictures, survey->left_out == 1 ? "is" : "are");
    if (survey->persons_left_out && used >= 0 && (size_t)used < size)
        used +=
            snprintf(text + used, size - (size_t)used, ", and with them %zu %s",
                     survey->persons_left_out, survey->persons_left_out == 1 ? "person" : "people");
    for (size_t i = 0; i < survey->named && used >= 0 && (size_t)used < size; i++)
        used +=
            snprintf(text + used, size - (size_t)used, "%s%s", i ? "; " : ": ", survey->reasons[i]);
    if (survey->left_out > survey->named && used >= 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "; …");
}
