/* A face model against a gallery: every probe picture is compared with every picture of the people
 * in the gallery, and named after the person whose pictures lie nearest in the mean, as the page
 * does. Who carries the same name in both folders is the same person; who is not in the gallery is
 * a stranger, whom nobody can name, but who must not be taken for somebody. Called by predict. */
#ifndef TRAINYARD_MODELS_FACE_PROBE_H
#define TRAINYARD_MODELS_FACE_PROBE_H

#include "base/buf.h"
#include "models/face/model.h"
#include "train/data/dataset.h"
#include "train/network/metrics.h"

enum { FACE_PROBE_STRANGER = -1, FACE_PROBE_POINTS_MAX = 200 };

struct face_probe_person {
    int in_gallery; /* whom it is there, or FACE_PROBE_STRANGER */
    size_t pictures, right;
    double own;     /* mean distance to its own pictures in the gallery; 0 for a stranger */
    double nearest; /* mean over its pictures of the distance to the nearest other person's */
};

struct face_probe {
    const struct dataset *gallery, *probes; /* must outlive it */
    size_t rows, columns;                   /* pictures of the probes and of the gallery */
    int *row_persons, *column_persons;      /* whose each is, in its own data set */
    int *named;                             /* of each probe: whom it was taken for */
    float *distances;                       /* [rows][columns] */
    struct face_probe_person *persons;      /* of the probes */
    size_t asked, right;                    /* probes of people who are in the gallery */
    struct metrics metrics; /* of all pairs of a probe and a picture of the gallery */
    struct metrics_point points[FACE_PROBE_POINTS_MAX];
    size_t point_count;
};

/* More than METRICS_PICTURES_MAX pictures on one side are refused. */
int face_probe_run(struct face_model *model, const struct dataset *gallery,
                   const struct dataset *probes, struct face_probe *ret, struct err *err);
void face_probe_release(struct face_probe *probe); /* safe on zeroed memory */

void face_probe_sentence(const struct face_probe *probe, char *text, size_t size);
struct json *face_probe_to_json(struct arena *arena, const struct face_probe *probe);

/* "threshold,same,different": which part of the pairs of each kind lies below the threshold. */
void face_probe_roc_csv(const struct face_probe *probe, struct buf *buf);
void face_probe_roc_svg(const struct face_probe *probe, struct buf *buf);
/* A PNG: a row a probe and a column a picture of the gallery, by person; darker is nearer. */
int face_probe_distances_png(const struct face_probe *probe, struct buf *buf, struct err *err);

#endif
