/* The upload page of a face model, as a site of `trainer serve`. */
#include "cli/trainer/serve_site.h"

#include "base/mem.h"
#include "base/str.h"
#include "serve/upload_page.h"

#include <stdlib.h>

struct face_site {
    struct face_model *model;
    struct dataset *people, *samples;
    struct upload_page *page;
};

static void site_free(void *own)
{
    struct face_site *site = own;
    upload_page_free(site->page);
    dataset_free(site->samples);
    dataset_free(site->people);
    face_model_free(site->model);
    free(site);
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
        result = dataset_open_folder(values->gallery, &site->people, err);
    if (result == 0 && !str_is_empty(values->samples))
        result = dataset_open_folder(values->samples, &site->samples, err);
    if (result < 0)
        return result;
    struct upload_page_options options = {
        .model = site->model, .people = site->people, .samples = site->samples};
    result = upload_page_new(loop, &options, &site->page, err);
    ret->page = site->page;
    ret->handle = upload_page_handle;
    return result;
}
