/* The sites of `trainer serve`: a site is the handler and the page for one kind of model, in a file
 * of its own. serve.c chooses a site and runs it. */
#ifndef TRAINYARD_CLI_TRAINER_SERVE_SITE_H
#define TRAINYARD_CLI_TRAINER_SERVE_SITE_H

#include "loop/loop.h"
#include "net/http/http.h"

/* The values of the options of `trainer serve`. */
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
    void *state;      /* context of `stop` and `free` */
    /* Called when the server has closed. After the call, the site starts no more work on the pool.
     * May be NULL. */
    void (*stop)(void *state);
    /* Frees `state`. Called when no request and no work on the pool is in progress. */
    void (*free)(void *state);
};

/* Each of these functions opens the site of one kind of model and prints what it serves. It first
 * sets `state` and `free` of *site, so that the caller can free the site after a failure, too. */
int serve_face_open(struct loop *loop, const struct serve_values *values, struct serve_site *site,
                    struct err *err);
int serve_classifier_open(struct loop *loop, const struct serve_values *values,
                          struct serve_site *site, struct err *err);

#endif
