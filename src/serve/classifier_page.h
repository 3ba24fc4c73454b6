/* The page of a classifier: a random picture of the test set, what it is, what the model says with
 * how much certainty, and the version of the model; and TensorFlow Serving's REST interface on the
 * same port. An http_handler. */
#ifndef TRAINYARD_SERVE_CLASSIFIER_PAGE_H
#define TRAINYARD_SERVE_CLASSIFIER_PAGE_H

#include "net/http/http.h"
#include "serve/classifier_source.h"
#include "train/data/idx.h"

enum { CLASSIFIER_PAGE_INSTANCES_MAX = 1024 }; /* pictures of one request */

struct classifier_page_options {
    struct loop *loop;
    struct classifier_source *source;
    const struct idx *test; /* pictures to show */
    const char *directory;  /* of the data set, for the names of its classes */
    const char *model_name; /* in /v1/models/NAME */
    const char *report;     /* file of the training run's report, or NULL */
    uint64_t seed;          /* of the draw of pictures */
};

struct classifier_page;

/* Everything given must outlive the page. */
struct classifier_page *classifier_page_new(const struct classifier_page_options *options);
/* Nothing may be under way. */
struct classifier_page *classifier_page_free(struct classifier_page *page);

void classifier_page_handle(struct http_exchange *exchange, void *page);

#endif
