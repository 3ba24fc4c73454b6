/* The upload page: a user sends a picture and gets the three nearest people, each with distance and
 * picture, and whether the nearest is near enough to count as recognised. Pictures are cut as in
 * training. An http_handler. Slow work (decoding, embedding) runs on the loop's pool, one picture
 * at a time; a request that finds the queue full is refused. A file that is not a picture, or shows
 * no face, gets a sentence. */
#ifndef TRAINYARD_SERVE_UPLOAD_PAGE_H
#define TRAINYARD_SERVE_UPLOAD_PAGE_H

#include "loop/loop.h"
#include "models/face/model.h"
#include "net/http/http.h"
#include "train/data/dataset.h"

struct upload_page_options {
    struct face_model *model;         /* used by this page alone from now on */
    enum face_crop crop;              /* how pictures are cut: as for the training of the model */
    const struct face_finder *finder; /* may be NULL if neither `crop` nor `photographs` needs it */
    bool photographs;   /* a face must be found on a picture, and only one is recognised */
    double accept_rate; /* fraction of strangers that may be accepted as a person of the gallery */
    const struct dataset *people;  /* the gallery */
    const struct dataset *samples; /* pictures that the page offers for a try, or NULL */
    const char *report;            /* file of the training run's report, or NULL */
};

enum { UPLOAD_NEAREST = 3, UPLOAD_WAITING_MAX = 64 };

struct upload_page;

/* Embeds the gallery, which takes a moment. Everything in the options must outlive the page. */
int upload_page_new(struct loop *loop, const struct upload_page_options *options,
                    struct upload_page **ret, struct err *err);
/* The distance beyond which a face is of no person in the gallery. */
const struct face_threshold *upload_page_threshold(const struct upload_page *page);
/* No request may be in progress. */
struct upload_page *upload_page_free(struct upload_page *page);

void upload_page_handle(struct http_exchange *exchange, void *page);

#endif
