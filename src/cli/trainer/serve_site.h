/* The sites of `trainer serve`: one file per kind of model. serve.c chooses a site and runs it. */
#ifndef TRAINYARD_CLI_TRAINER_SERVE_SITE_H
#define TRAINYARD_CLI_TRAINER_SERVE_SITE_H

#include "loop/loop.h"
#include "net/http/http.h"

struct serve_values {
    const char *model, *gallery, *samples; /* options for a face model */
    double accept_rate;
    const char *model_base_path, *model_name, *data; /* options for a classifier */
    const char *report;
    const char *address;
    int64_t port;
};

struct serve_site {
    http_handler *handle;
    void *page;       /* context of `handle` */
    const char *path; /* URL path of the start page */
    void *own;
    void (*stop)(void *own); /* starts no more work from now on; may be NULL */
    void (*free)(void *own); /* called when no request is in progress */
};

/* Open a site. Both set site->own and site->free first, so that the caller can free the site also
 * after a failure. */
int serve_face_open(struct loop *loop, const struct serve_values *values, struct serve_site *site,
                    struct err *err);
int serve_classifier_open(struct loop *loop, const struct serve_values *values,
                          struct serve_site *site, struct err *err);

#endif
