/* Serves the upload page: a user sends a picture and gets the three nearest people, each with
 * distance and picture, and whether the nearest person counts as recognised. Pictures are cropped
 * as in training. upload_page_handle() is an http_handler. Slow work (decoding, embedding) runs on
 * the loop's pool, one picture at a time. When the queue is full, requests are refused. If a file
 * is not a picture or shows no face, the response explains this in a sentence. */
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
    bool photographs;   /* a picture must show a face; with several faces no person is recognised */
    double accept_rate; /* fraction of strangers that may be accepted by mistake */
    const struct dataset *people;  /* the gallery */
    const struct dataset *samples; /* sample pictures that the page offers to users, or NULL */
    const char *report;            /* file of the training run's report, or NULL */
};

enum { UPLOAD_NEAREST = 3, UPLOAD_WAITING_MAX = 64 };

struct upload_page;

/* Embeds the gallery, which may take seconds. All pointers in `options` must stay valid until
 * upload_page_free(). */
int upload_page_new(struct loop *loop, const struct upload_page_options *options,
                    struct upload_page **ret, struct err *err);
/* Returns the distance above which a face belongs to no person of the gallery. */
const struct face_threshold *upload_page_threshold(const struct upload_page *page);
/* No request may be in progress. */
struct upload_page *upload_page_free(struct upload_page *page);

void upload_page_handle(struct http_exchange *exchange, void *page);

#endif
