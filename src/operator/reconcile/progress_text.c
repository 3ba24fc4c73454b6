/* Formats progress as text; see progress_text.h. The document comes from the user's program, so the
 * text has only its numbers and, without control characters, the names in "waiting-for". */
#include "operator/reconcile/progress_text.h"

#include "operator/kind/training_job.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "kube/object.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The most characters of "waiting-for" that are shown. */
enum { WAITING_MAX = 60 };

/* Returns a number in a readable form: 0.4213, 812, 120000, 1.2e+300. */
static const char *number_text(struct arena *arena, double number)
{
    double size = fabs(number);

    return arena_printf(arena, size >= 1000 && size < 1e15 ? "%.0f" : "%.4g", number);
}

static void progress_append(struct arena *arena, char **text, const char *part)
{
    *text = *text ? arena_printf(arena, "%s, %s", *text, part) : arena_strdup(arena, part);
}

static bool progress_is_number(const struct json *value)
{
    return value && (value->type == JSON_INT || value->type == JSON_REAL) &&
           isfinite(json_number(value, 0));
}

static void add_number(struct arena *arena, char **text, const struct json *document,
                       const char *name, const char *before, const char *after)
{
    const struct json *value = json_get(document, name);

    if (progress_is_number(value))
        progress_append(arena, text,
                        arena_printf(arena, "%s%s%s", before,
                                     number_text(arena, json_number(value, 0)), after));
}

static void add_step(struct arena *arena, char **text, const struct json *document)
{
    const struct json *step = json_get(document, "step"), *total = json_get(document, "total");

    if (!progress_is_number(step))
        return;
    bool of_total = progress_is_number(total) && json_number(total, 0) > 0;
    progress_append(arena, text,
                    arena_printf(arena, "step %s%s%s", number_text(arena, json_number(step, 0)),
                                 of_total ? "/" : "",
                                 of_total ? number_text(arena, json_number(total, 0)) : ""));
}

/* Returns whether a character moves the cursor, ends the line or changes the writing direction:
 * ASCII and Latin-1 control characters, U+061C, line separators and direction marks. */
static bool character_is_control(const char *character, size_t size)
{
    const unsigned char *byte = (const unsigned char *)character;

    if (size == 1)
        return byte[0] < ' ' || byte[0] == 0x7f;
    if (size == 2)
        return (byte[0] == 0xc2 && byte[1] < 0xa0) || (byte[0] == 0xd8 && byte[1] == 0x9c);
    if (size == 3 && byte[0] == 0xe2 && byte[1] == 0x80) /* U+200E, U+200F, U+2028 to U+202E */
        return byte[2] == 0x8e || byte[2] == 0x8f || (byte[2] >= 0xa8 && byte[2] <= 0xae);
    return size == 3 && byte[0] == 0xe2 && byte[1] == 0x81 && byte[2] >= 0xa6 &&
           byte[2] <= 0xa9; /* U+2066 to U+2069 */
}

bool training_progress_is_plain(const char *text)
{
    for (size_t step; *text; text += step) {
        step = utf8_size(text, strlen(text));
        if (step == 0 || character_is_control(text, step))
            return false;
    }
    return true;
}

/* Appends the names of the peers that the program waits for, at most WAITING_MAX characters. Shows
 * an invalid or control character as '?'. */
static void add_waiting(struct arena *arena, char **text, const struct json *document)
{
    const struct json *value = json_get(document, "waiting-for");
    const char *names = value ? json_text(value) : NULL;
    char shown[WAITING_MAX * 4 + 1];
    size_t size = 0;

    if (str_is_empty(names))
        return;
    for (int count = 0; *names && count < WAITING_MAX; count++) {
        size_t step = utf8_size(names, strlen(names));

        if (step == 0 || character_is_control(names, step)) {
            shown[size++] = '?';
        } else {
            memcpy(shown + size, names, step);
            size += step;
        }
        names += step ? step : 1;
    }
    shown[size] = '\0';
    progress_append(arena, text, arena_printf(arena, "waiting for %s", shown));
}

static int parse_document(struct arena *arena, const char *document, size_t size,
                          struct json **ret_json, char **ret_text, struct err *err)
{
    static const struct json_limits limits = {.depth = 8};
    struct json *json;
    char *text = NULL;

    if (size > TRAINING_PROGRESS_DOCUMENT_MAX)
        return err_set(err, ERR_TOO_LARGE, "the document is larger than %d bytes",
                       TRAINING_PROGRESS_DOCUMENT_MAX);
    int result = json_parse(arena, document, size, &limits, &json, err);
    if (result < 0)
        return result;
    add_step(arena, &text, json);
    add_number(arena, &text, json, "epoch", "epoch ", "");
    add_number(arena, &text, json, "loss", "loss ", "");
    add_number(arena, &text, json, "accuracy", "accuracy ", "");
    add_number(arena, &text, json, "rate", "", "/s");
    add_waiting(arena, &text, json);
    if (!text)
        return err_set(err, ERR_INVALID,
                       "the document has no number in step, epoch, loss, accuracy or rate, and no "
                       "text in waiting-for");
    *ret_json = json;
    *ret_text = text;
    return 0;
}

int training_progress_text(struct arena *arena, const char *document, size_t size, char **ret,
                           struct err *err)
{
    struct json *json;

    return parse_document(arena, document, size, &json, ret, err);
}

static int progress_find_port(const struct json *pod, const char *name)
{
    JSON_EACH (container, json_at(pod, "spec", "containers", NULL)) {
        JSON_EACH (port, json_get(container, "ports")) {
            int64_t number = json_get_int(port, "containerPort", 0);

            if (str_eq(json_get_string(port, "name", NULL), name) && number > 0 && number < 65536)
                return (int)number;
        }
    }
    return 0;
}

/* Returns whether this pod reports the job's progress, and has this phase. */
static bool is_progress_pod(const struct json *pod, const char *job_uid, const char *phase)
{
    return str_eq(kube_meta_label(pod, TRAINING_ROLE_LABEL), "master") &&
           kube_meta_is_controlled_by(pod, job_uid) && !kube_meta_is_deleting(pod) &&
           str_eq(json_get_string(json_get(pod, "status"), "phase", NULL), phase);
}

const struct json *training_progress_pod(const struct json *const *pods, size_t count,
                                         const char *job_uid, int *ret_port)
{
    for (size_t i = 0; i < count; i++) {
        const struct json *pod = pods[i];

        if (!is_progress_pod(pod, job_uid, "Running"))
            continue;
        int port = progress_find_port(pod, "progress");
        if (!port)
            port = progress_find_port(pod, "metrics");
        if (!port)
            continue;
        *ret_port = port;
        return pod;
    }
    return NULL;
}

bool training_progress_last(struct arena *arena, const struct json *const *pods, size_t count,
                            const char *job_uid, struct training_final_progress *ret)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_progress_pod(pods[i], job_uid, "Succeeded"))
            continue;
        JSON_EACH (container, json_at(pods[i], "status", "containerStatuses", NULL)) {
            const char *message =
                json_get_string(json_at(container, "state", "terminated", NULL), "message", "");
            struct json *json;
            char *text;

            if (parse_document(arena, message, strlen(message), &json, &text, NULL) < 0)
                continue;
            *ret = (struct training_final_progress){
                .text = text,
                .report = json_get_string(json, "report", NULL),
                .pod = pods[i],
                .container = json_get_string(container, "name", NULL),
            };
            return true;
        }
    }
    return false;
}

/* Returns whether every annotation of `one`, except the progress, is also in `other`. */
static bool has_annotations_of(const struct json *one, const struct json *other)
{
    JSON_EACH (annotation, json_at(one, "metadata", "annotations", NULL)) {
        if (!str_eq(annotation->name, TRAINING_PROGRESS_ANNOTATION) &&
            !str_eq(kube_meta_annotation(other, annotation->name), json_text(annotation)))
            return false;
    }
    return true;
}

bool training_progress_is_all_that_changed(const struct json *old, const struct json *new_)
{
    return !str_eq(kube_meta_annotation(old, TRAINING_PROGRESS_ANNOTATION),
                   kube_meta_annotation(new_, TRAINING_PROGRESS_ANNOTATION)) &&
           str_eq(kube_meta_uid(old), kube_meta_uid(new_)) &&
           kube_meta_is_deleting(old) == kube_meta_is_deleting(new_) &&
           has_annotations_of(old, new_) && has_annotations_of(new_, old) &&
           json_equal(json_get(old, "spec"), json_get(new_, "spec")) &&
           json_equal(json_get(old, "status"), json_get(new_, "status"));
}
