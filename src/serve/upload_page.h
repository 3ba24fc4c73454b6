/* The upload page: a picture goes in, the three nearest people come out, each with distance and
 * picture, and whether the nearest is near enough to be known. What was cut to the face in training
 * is cut to it here. An http_handler of its own; what is slow (decoding, embedding) runs on the
 * loop's pool, one picture at a time, and a queue that is full says so. A file that is no picture,
 * or shows no face, gets a sentence. */
#ifndef TRAINYARD_SERVE_UPLOAD_PAGE_H
#define TRAINYARD_SERVE_UPLOAD_PAGE_H

#include "loop/loop.h"
#include "models/face/model.h"
#include "net/http/http.h"
#include "train/data/dataset.h"

struct upload_page_options {
    struct face_model *model;         /* used by this page alone from here on */
    enum face_crop crop;              /* how a picture is cut: as the model's were */
    const struct face_finder *finder; /* NULL where neither `crop` nor `photographs` needs it */
    bool photographs;                 /* a face must be found on a picture, and only one is named */
    double accept_rate;               /* part of strangers taken for somebody of the gallery */
    const struct dataset *people;     /* the gallery */
    const struct dataset *samples;    /* pictures offered for a try, or NULL */
    const char *report;               /* file of the training run's report, or NULL */
};

enum { UPLOAD_NEAREST = 3, UPLOAD_WAITING_MAX = 64 };

struct upload_page;

/* Embeds the gallery: this takes a moment. Everything given must outlive the page. */
int upload_page_new(struct loop *loop, const struct upload_page_options *options,
                    struct upload_page **ret, struct err *err);
/* From where on a face is nobody's. */
const struct face_threshold *upload_page_threshold(const struct upload_page *page);
/* Nothing may be under way. */
struct upload_page *upload_page_free(struct upload_page *page);

void upload_page_handle(struct http_exchange *exchange, void *page);

#endif
