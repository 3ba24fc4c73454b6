/* Serves the page of a classifier: a random picture of the test set, its label, the prediction with
 * probabilities, and the version of the model. Also serves the REST interface of TensorFlow
 * Serving. `trainer serve` passes classifier_page_handle() to its HTTP server as the handler. Runs
 * on the loop thread. */
#ifndef TRAINYARD_SERVE_CLASSIFIER_PAGE_H
#define TRAINYARD_SERVE_CLASSIFIER_PAGE_H

#include "net/http/http.h"
#include "serve/classifier_source.h"
#include "train/data/idx.h"

enum { CLASSIFIER_PAGE_INSTANCES_MAX = 1024 }; /* limit of pictures per request */

struct classifier_page_options {
    struct loop *loop;
    struct classifier_source *source;
    const struct idx *test; /* the pictures that the page shows */
    const char *directory;  /* directory of the data set, for the names of its classes */
    const char *model_name; /* NAME in /v1/models/NAME */
    const char *report;     /* path of the training run's report; NULL or "": none */
    uint64_t seed;          /* seed for the choice of pictures */
};

struct classifier_page;

/* All pointers in `options` must stay valid until classifier_page_free(). The caller frees the
 * page. */
struct classifier_page *classifier_page_new(const struct classifier_page_options *options);
/* No request may be in progress. NULL-safe; returns NULL. */
struct classifier_page *classifier_page_free(struct classifier_page *page);

/* An http_handler, whose context is the page. */
void classifier_page_handle(struct http_exchange *exchange, void *page);

#endif
