/* Implements the comparison of probe pictures with a gallery; see predict_probes.h. */
#include "cli/trainer/predict_probes.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "base/utf8.h"
#include "models/face/probe.h"

#include <stdio.h>
#include <string.h>

enum { OUTPUT_MAX = 64 << 20 };

static void print_probe_table(const struct face_probe *probe)
{
    char text[512];
    printf("%-24s %8s %9s %14s %16s\n", "PERSON", "PICTURES", "RIGHT", "OWN DISTANCE",
           "NEAREST OTHER");
    for (size_t i = 0; i < dataset_persons(probe->probes); i++) {
        const struct face_probe_person *row = &probe->persons[i];
        const char *name = dataset_person_name(probe->probes, i);
        if (row->in_gallery == FACE_PROBE_STRANGER)
            printf("%-*s %8zu %9s %14s %16.3f\n", utf8_width(name, 24), name, row->pictures, "-",
                   "-", row->nearest);
        else
            printf("%-*s %8zu %7.1f %% %14.3f %16.3f\n", utf8_width(name, 24), name, row->pictures,
                   100 * (double)row->correct / (double)row->pictures, row->own, row->nearest);
    }
    face_probe_sentence(probe, text, sizeof(text));
    printf("%s\n", text);
}

/* Prints the nearest person for each probe. Used if no person of the probes is in the gallery. */
static void print_names(const struct face_probe *probe)
{
    size_t row = 0;
    for (size_t person = 0; person < dataset_persons(probe->probes); person++)
        for (size_t i = 0; i < dataset_pictures(probe->probes, person); i++, row++) {
            char name[4096];
            dataset_picture_name(probe->probes, person, i, name, sizeof(name));
            printf("%s: %s\n", name,
                   dataset_person_name(probe->gallery, (size_t)probe->predicted[row]));
        }
}

static int write_probe_file(const char *directory, const char *name, const void *data, size_t size,
                            struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, name);
    return file_write_atomic(path, data, size, 0644, err);
}

static int write_output(const struct face_probe *probe, const char *directory, const char *json,
                        struct err *err)
{
    _cleanup_buf_ struct buf png, csv, svg;
    buf_init(&png, OUTPUT_MAX);
    buf_init(&csv, OUTPUT_MAX);
    buf_init(&svg, OUTPUT_MAX);
    face_probe_roc_csv(probe, &csv);
    face_probe_roc_svg(probe, &svg);
    int result = file_make_dirs(directory, 0755, err);
    if (result == 0)
        result = face_probe_distances_png(probe, &png, err);
    if (result == 0)
        result = write_probe_file(directory, "distances.png", png.data, png.size, err);
    if (result == 0)
        result = write_probe_file(directory, "roc.csv", csv.data, csv.size, err);
    if (result == 0)
        result = write_probe_file(directory, "roc.svg", svg.data, svg.size, err);
    if (result == 0)
        result = write_probe_file(directory, "prediction.json", json, strlen(json), err);
    return result;
}

int predict_probes_run(struct face_model *model, const struct people_crop *crop,
                       const char *gallery_path, const char *probes_path, const char *output,
                       bool as_json, struct err *err)
{
    _cleanup_(cleanup_dataset) struct dataset *gallery = NULL, *probes = NULL;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_(face_probe_release) struct face_probe probe = {0};
    int result = people_open(gallery_path, crop, 1, &gallery, err);
    if (result == 0)
        result = people_open_any(probes_path, crop, 1, &probes, err);
    if (result == 0)
        result = face_probe_run(model, gallery, probes, &probe, err);
    if (result != 0)
        return result;
    const char *json = json_to_string(arena, face_probe_to_json(arena, &probe));
    if (!str_is_empty(output)) {
        result = write_output(&probe, output, json, err);
        if (result < 0)
            return err_wrap(err, "cannot write the results");
    }
    if (as_json)
        printf("%s\n", json);
    else if (probe.known)
        print_probe_table(&probe);
    else
        print_names(&probe);
    return 0;
}
