/* Compares a folder of probe pictures with a gallery. Each probe is assigned to the person whose
 * gallery pictures are nearest on average, as on the upload page. Subfolders with the same name in
 * both folders show the same person. A person of the probes who is not in the gallery is a
 * stranger. Strangers do not count in `asked` and `right`. In `metrics` their pairs count as pairs
 * of two persons. Called by `trainer predict`. */
#ifndef TRAINYARD_MODELS_FACE_PROBE_H
#define TRAINYARD_MODELS_FACE_PROBE_H

#include "base/buf.h"
#include "models/face/model.h"
#include "train/data/dataset.h"
#include "train/network/metrics.h"

enum { FACE_PROBE_STRANGER = -1, FACE_PROBE_POINTS_MAX = 200 };

struct face_probe_person {
    int in_gallery; /* index in the gallery, or FACE_PROBE_STRANGER */
    size_t pictures, right;
    double own;     /* mean distance to this person's gallery pictures; 0 for a stranger */
    double nearest; /* mean distance from this person's probes to the nearest other person */
};

struct face_probe {
    const struct dataset *gallery, *probes; /* must outlive this struct */
    size_t rows, columns;                   /* number of probes, and of gallery pictures */
    /* index of each picture's person in the probes or the gallery */
    int *row_persons, *column_persons;
    int *named;                        /* for each probe, the predicted person of the gallery */
    float *distances;                  /* [rows][columns] */
    struct face_probe_person *persons; /* one per person of the probes */
    size_t asked, right;    /* probes of people in the gallery, and those predicted correctly */
    struct metrics metrics; /* over all pairs of a probe and a gallery picture */
    struct metrics_point points[FACE_PROBE_POINTS_MAX];
    size_t point_count;
};

/* Returns -ERR_TOO_MANY if the gallery or the probes have more than METRICS_PICTURES_MAX pictures.
 * The caller releases the result. */
int face_probe_run(struct face_model *model, const struct dataset *gallery,
                   const struct dataset *probes, struct face_probe *ret, struct err *err);
void face_probe_release(struct face_probe *probe); /* safe on zeroed memory */

void face_probe_sentence(const struct face_probe *probe, char *text, size_t size);
struct json *face_probe_to_json(struct arena *arena, const struct face_probe *probe);

/* Appends the ROC curve with the columns "threshold,same,different". "same" is the fraction of the
 * pairs of one person that have a distance below the threshold. "different" is this fraction for
 * the pairs of two persons. */
void face_probe_roc_csv(const struct face_probe *probe, struct buf *buf);
void face_probe_roc_svg(const struct face_probe *probe, struct buf *buf);
/* Appends a PNG with one row per probe and one column per gallery picture, ordered by person.
 * Darker is nearer. */
int face_probe_distances_png(const struct face_probe *probe, struct buf *buf, struct err *err);

#endif
