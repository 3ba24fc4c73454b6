/* The upload page of a face model, as a site of `trainer serve`. */
#include "cli/trainer/serve_site.h"

#include "base/mem.h"
#include "base/str.h"
#include "cli/trainer/people.h"
#include "serve/upload_page.h"

#include <stdlib.h>
#include <string.h>

struct face_site {
    struct face_model *model;
    struct people_crop crop;
    struct dataset *people, *samples;
    struct upload_page *page;
    char *report;
};

static void site_free(void *own)
{
    struct face_site *site = own;
    upload_page_free(site->page);
    dataset_free(site->samples);
    dataset_free(site->people);
    people_crop_release(&site->crop);
    face_model_free(site->model);
    free(site->report);
    free(site);
}

/* Training writes it beside the model. */
static char *report_of(const struct serve_values *values)
{
    if (!str_is_empty(values->report))
        return mem_strdup(values->report);
    const char *slash = strrchr(values->model, '/');
    return mem_printf("%.*sreport.html", slash ? (int)(slash + 1 - values->model) : 0,
                      values->model);
}

int serve_face_open(struct loop *loop, const struct serve_values *values, struct serve_site *ret,
                    struct err *err)
{
    struct face_site *site = mem_zalloc(sizeof(*site));
    ret->own = site;
    ret->free = site_free;
    ret->path = "/upload";
    if (str_is_empty(values->gallery))
        return err_set(err, ERR_USAGE, "which people? give --gallery DIR, one folder a person");
    int result = face_model_load(values->model, &site->model, err);
    if (result == 0)
        result = people_crop_open(face_model_config(site->model)->crop, &site->crop, err);
    if (result == 0)
        result = people_open(values->gallery, &site->crop, 1, &site->people, err);
    if (result == 0 && !str_is_empty(values->samples))
        result = people_open(values->samples, &site->crop, 1, &site->samples, err);
    if (result < 0)
        return result;
    site->report = report_of(values);
    struct upload_page_options options = {
        .model = site->model,
        .crop = site->crop.crop,
        .finder = site->crop.finder,
        .people = site->people,
        .samples = site->samples,
        .report = site->report,
    };
    result = upload_page_new(loop, &options, &site->page, err);
    ret->page = site->page;
    ret->handle = upload_page_handle;
    return result;
}
