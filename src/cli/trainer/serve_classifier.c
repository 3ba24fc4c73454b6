/* trainer serve, for a classifier: opens the test pictures and the newest version, and serves the
 * page of a classifier. See serve_site.h. */
#include "cli/trainer/serve_site.h"

#include "base/mem.h"
#include "base/rand.h"
#include "base/str.h"
#include "base/system/file.h"
#include "serve/classifier_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct classifier_site {
    struct idx *test;
    struct classifier_source *source;
    struct classifier_page *page;
};

static void site_stop(void *state)
{
    struct classifier_site *site = state;
    classifier_source_stop(site->source);
}

static void site_free(void *state)
{
    struct classifier_site *site = state;
    classifier_page_free(site->page);
    classifier_source_free(site->source);
    idx_free(site->test);
    free(site);
}

static void on_version(void *context, int64_t version, const struct err *err)
{
    (void)context;
    if (err && version == 0)
        printf("cannot look for newer versions: %s\n", err->message);
    else if (err)
        printf("version %" PRId64 " cannot be served: %s\n", version, err->message);
    else
        printf("version %" PRId64 " is served\n", version);
    fflush(stdout);
}

int serve_classifier_open(struct loop *loop, const struct serve_values *values,
                          struct serve_site *ret, struct err *err)
{
    struct classifier_site *site = mem_zalloc(sizeof(*site));
    ret->state = site;
    ret->free = site_free;
    ret->path = "/";
    if (str_has_prefix(values->model_base_path, "s3://"))
        return err_set(err, ERR_UNSUPPORTED,
                       "'%s' is in a bucket, which is not read here: mount a volume (a "
                       "PersistentVolumeClaim) where the versions are, and give its directory",
                       values->model_base_path);
    int result = idx_open(values->data, IDX_TEST, &site->test, err);
    if (result == 0)
        result = classifier_source_new(loop, values->model_base_path, on_version, NULL,
                                       &site->source, err);
    if (result < 0)
        return result;
    int64_t version = classifier_source_version(site->source);
    if (version)
        on_version(NULL, version, NULL);
    else
        printf("no version yet in '%s': the first is served as soon as it is exported\n",
               values->model_base_path);
    struct classifier_page_options options = {
        .loop = loop,
        .source = site->source,
        .test = site->test,
        .directory = values->data,
        .model_name = values->model_name,
        .report = values->report,
    };
    rand_secure(&options.seed, sizeof(options.seed));
    site->page = classifier_page_new(&options);
    ret->stop = site_stop;
    ret->page = site->page;
    ret->handle = classifier_page_handle;
    return 0;
}
