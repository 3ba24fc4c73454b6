/* trainer serve, for a face model: opens the model and the gallery and serves the upload page. See
 * serve_site.h. */
#include "cli/trainer/serve_site.h"

#include "base/mem.h"
#include "base/str.h"
#include "models/face/people.h"
#include "serve/upload_page.h"
#include "train/run/checkpoint.h"
#include "train/run/run_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct face_site {
    struct face_model *model;
    struct people_crop crop;
    struct face_finder *finder; /* opened if `crop` has no finder; NULL: not opened */
    struct dataset *people, *samples;
    struct upload_page *page;
    char *report;
};

static void site_free(void *state)
{
    struct face_site *site = state;
    upload_page_free(site->page);
    dataset_free(site->samples);
    dataset_free(site->people);
    people_crop_release(&site->crop);
    face_finder_free(site->finder);
    face_model_free(site->model);
    free(site->report);
    free(site);
}

/* Loads the model. If the file has another kind of model, the error names that kind and the command
 * for it. */
static int load_model(const char *path, struct face_model **ret, struct err *err)
{
    _cleanup_(cleanup_checkpoint) struct checkpoint *checkpoint = NULL;
    struct err unread = ERR_INIT;
    int result = face_model_load(path, ret, err);
    if (result != -ERR_INVALID || checkpoint_read(path, &checkpoint, &unread) < 0)
        return result;
    if (str_eq(checkpoint->info.model, "classifier"))
        return err_set(err, ERR_USAGE,
                       "'%s' is a classifier, which is served in versions: export them with "
                       "'trainer fit classifier --export-dir DIR', and give --model-base-path DIR "
                       "instead of --model",
                       path);
    if (str_eq(checkpoint->info.model, "recommender"))
        return err_set(err, ERR_USAGE,
                       "'%s' is a recommender, for which there is no page: 'trainer recommend "
                       "--model %s --data FILE --user ID' prints recommendations for one user",
                       path, path);
    return result;
}

/* Returns the path of the report: the value of --report, or the file that training writes beside
 * the model. The caller frees the path. */
static char *report_path(const struct serve_values *values)
{
    if (!str_is_empty(values->report))
        return mem_strdup(values->report);
    const char *slash = strrchr(values->model, '/');
    return mem_printf("%.*s" RUN_REPORT_PAGE, slash ? (int)(slash + 1 - values->model) : 0,
                      values->model);
}

/* Returns the finder of the site, or NULL after a warning if there is none. A finder is used even
 * if the model's pictures are not cropped to faces, because a picture without a face must not get a
 * name. */
static const struct face_finder *open_finder(struct face_site *site)
{
    struct err err = ERR_INIT;
    if (!site->crop.finder && face_finder_new(FACE_FINDER_CASCADE, &site->finder, &err) < 0)
        fprintf(stderr, "trainer: %s; pictures without a face will not be detected\n", err.message);
    return site->crop.finder ? site->crop.finder : site->finder;
}

static void print_threshold(const struct face_site *site, double rate)
{
    const struct face_threshold *threshold = upload_page_threshold(site->page);
    if (threshold->source == FACE_THRESHOLD_DEFAULT)
        printf("a face is recognised below the fixed distance %.2f: the gallery has too few people "
               "to measure how near strangers come, and the model file has no such measurement; "
               "add people, or train the model again\n",
               threshold->known);
    else
        printf("a face is recognised below distance %.2f: about %g %% of strangers come nearer to "
               "a person of the gallery, as measured on %s\n",
               threshold->known, 100 * rate,
               threshold->source == FACE_THRESHOLD_GALLERY
                   ? "the people of the gallery"
                   : "people at the end of training, for the gallery has too few");
}

int serve_face_open(struct loop *loop, const struct serve_values *values, struct serve_site *ret,
                    struct err *err)
{
    struct face_site *site = mem_zalloc(sizeof(*site));
    ret->state = site;
    ret->free = site_free;
    ret->path = "/upload";
    int result = load_model(values->model, &site->model, err);
    if (result == 0 && str_is_empty(values->gallery))
        return err_set(err, ERR_USAGE,
                       "no gallery given: use --gallery DIR, with one folder per person");
    if (result == 0)
        result = people_crop_open(face_model_config(site->model)->crop, &site->crop, err);
    if (result == 0)
        result = people_open(values->gallery, &site->crop, 1, &site->people, err);
    if (result == 0 && !str_is_empty(values->samples))
        result = people_open(values->samples, &site->crop, 1, &site->samples, err);
    if (result < 0)
        return result;
    site->report = report_path(values);
    const struct face_finder *finder = open_finder(site);
    struct upload_page_options options = {
        .model = site->model,
        .crop = site->crop.crop,
        .finder = finder,
        .photographs = people_are_photographs(site->people, finder),
        .accept_rate = values->accept_rate,
        .people = site->people,
        .samples = site->samples,
        .report = site->report,
    };
    result = upload_page_new(loop, &options, &site->page, err);
    ret->page = site->page;
    ret->handle = upload_page_handle;
    if (result == 0)
        print_threshold(site, values->accept_rate);
    return result;
}
