/* Compares probes, which are pictures to be recognised, with a gallery of known people. Each probe
 * is assigned to the person whose gallery pictures are nearest on average, as on the upload page. A
 * person of the probes and a person of the gallery with the same name are the same person. A person
 * of the probes who is not in the gallery is a stranger. Strangers do not count in `known` and
 * `correct`. In `metrics` their pairs count as pairs of two persons. `trainer predict --probes`
 * calls it. */
#ifndef TRAINYARD_MODELS_FACE_PROBE_H
#define TRAINYARD_MODELS_FACE_PROBE_H

#include "base/buf.h"
#include "models/face/model.h"
#include "train/data/dataset.h"
#include "train/network/metrics.h"

enum { FACE_PROBE_STRANGER = -1, FACE_PROBE_POINTS_MAX = 200 /* of the ROC curve */ };

struct face_probe_person {
    int in_gallery;  /* index in the gallery, or FACE_PROBE_STRANGER */
    size_t pictures; /* probes of this person */
    size_t correct;  /* probes that were assigned to this person; 0 for a stranger */
    /* Mean distance from the probes to this person's gallery pictures; 0 for a stranger. */
    double own;
    /* Mean, over the probes of this person, of the distance to the nearest other person of the
     * gallery; 0 if there is none. */
    double nearest;
};

struct face_probe {
    const struct dataset *gallery, *probes; /* must outlive this struct */
    size_t rows, columns;                   /* number of probes, and number of gallery pictures */
    /* For each probe, the index of its person in the probes; for each gallery picture, the index of
     * its person in the gallery. */
    int *row_persons, *column_persons;
    int *predicted;                    /* for each probe, the assigned person of the gallery */
    float *distances;                  /* [rows][columns] */
    struct face_probe_person *persons; /* one per person of the probes */
    /* Number of probes of people in the gallery, and number of those that are assigned to the right
     * person. */
    size_t known, correct;
    struct metrics metrics; /* over all pairs of a probe and a gallery picture */
    struct metrics_point points[FACE_PROBE_POINTS_MAX]; /* the ROC curve */
    size_t point_count;
};

/* Returns -ERR_TOO_MANY if the gallery or the probes have more than METRICS_PICTURES_MAX pictures,
 * or the error of dataset_load(). The caller releases *ret. */
int face_probe_run(struct face_model *model, const struct dataset *gallery,
                   const struct dataset *probes, struct face_probe *ret, struct err *err);
void face_probe_release(struct face_probe *probe); /* safe on zeroed memory */

/* Writes the result as one line of text. */
void face_probe_sentence(const struct face_probe *probe, char *text, size_t size);
struct json *face_probe_to_json(struct arena *arena, const struct face_probe *probe);

/* Appends the ROC curve as CSV with the columns "threshold,same,different". "same" is the fraction
 * of the pairs of one person whose distance is at most the threshold. "different" is the same
 * fraction of the pairs of two persons. */
void face_probe_roc_csv(const struct face_probe *probe, struct buf *buf);
/* Appends the ROC curve as a drawing. */
void face_probe_roc_svg(const struct face_probe *probe, struct buf *buf);
/* Appends a PNG that shows the distances as a matrix, with one row of cells per probe and one
 * column of cells per gallery picture, ordered by person. A dark cell is a small distance. */
int face_probe_distances_png(const struct face_probe *probe, struct buf *buf, struct err *err);

#endif
