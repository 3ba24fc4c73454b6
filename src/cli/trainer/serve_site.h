/* The sites of `trainer serve`: one file per kind of model. serve.c chooses a site and runs it. */
#ifndef TRAINYARD_CLI_TRAINER_SERVE_SITE_H
#define TRAINYARD_CLI_TRAINER_SERVE_SITE_H

#include "loop/loop.h"
#include "net/http/http.h"

struct serve_values {
    const char *model, *gallery, *samples; /* a face model */
    double accept_rate;
    const char *model_base_path, *model_name, *data; /* versions of a classifier */
    const char *report;
    const char *address;
    int64_t port;
};

struct serve_site {
    http_handler *handle;
    void *page;       /* the context of `handle` */
    const char *path; /* where a user starts */
    void *own;
    void (*stop)(void *own); /* start no more work; may be NULL */
    void (*free)(void *own); /* called when no request is in progress any more */
};

/* site->own and site->free are set as soon as there is something to free, also on failure. */
int serve_face_open(struct loop *loop, const struct serve_values *values, struct serve_site *site,
                    struct err *err);
int serve_classifier_open(struct loop *loop, const struct serve_values *values,
                          struct serve_site *site, struct err *err);

#endif
