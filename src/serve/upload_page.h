/* Serves the upload page: a user sends a picture of a face. The response has the three nearest
 * people of a gallery, each with distance and picture, and whether the nearest person counts as
 * recognised. Pictures are cropped as in training. `trainer serve` passes upload_page_handle() to
 * its HTTP server as the handler. Uploaded pictures are decoded and embedded on the loop's pool,
 * one at a time. When the queue is full, uploads are refused. If a file is not a picture or shows
 * no face, the response explains this in a sentence. */
#ifndef TRAINYARD_SERVE_UPLOAD_PAGE_H
#define TRAINYARD_SERVE_UPLOAD_PAGE_H

#include "loop/loop.h"
#include "models/face/model.h"
#include "net/http/http.h"
#include "train/data/dataset.h"

struct upload_page_options {
    struct face_model *model;         /* no other code may use it until upload_page_free() */
    enum face_crop crop;              /* how pictures are cropped; the same as in training */
    const struct face_finder *finder; /* may be NULL if neither `crop` nor `photographs` needs it */
    /* Whether the gallery has photographs. If it is set, a picture without a face is refused, and
     * in a picture with several faces no person is recognised. */
    bool photographs;
    double accept_rate;            /* fraction of strangers that may be accepted by mistake */
    const struct dataset *people;  /* the gallery */
    const struct dataset *samples; /* sample pictures that the page offers to users, or NULL */
    const char *report;            /* path of the training run's report; NULL or "": none */
};

enum {
    UPLOAD_NEAREST = 3,      /* people per response */
    UPLOAD_WAITING_MAX = 64, /* uploads, including the upload in progress */
};

struct upload_page;

/* Embeds the gallery before it returns, which may take seconds. All pointers in `options` must stay
 * valid until upload_page_free(). The caller frees *ret. */
int upload_page_new(struct loop *loop, const struct upload_page_options *options,
                    struct upload_page **ret, struct err *err);
/* Returns the thresholds for the distance to the nearest person. The page owns them. */
const struct face_threshold *upload_page_threshold(const struct upload_page *page);
/* No request and no work on the pool may be in progress. NULL-safe; returns NULL. */
struct upload_page *upload_page_free(struct upload_page *page);

/* An http_handler, whose context is the page. */
void upload_page_handle(struct http_exchange *exchange, void *page);

#endif
