/* Writes the report of a run: the model, its data and options, the curves of the training, and the
 * evaluation, as a self-contained page (report.html) and as JSON (report.json). The process that
 * writes the history of the run makes the report from it each time it ends, including after
 * SIGTERM, but not if it is killed. The report of a resumed run covers all its processes. */
#ifndef TRAINYARD_TRAIN_RUN_RUN_REPORT_H
#define TRAINYARD_TRAIN_RUN_RUN_REPORT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json/json.h"

/* The name of the page in the model directory. */
#define RUN_REPORT_PAGE "report.html"

/* Writes both files from the history in the same directory, and replaces older files. Returns 0, or
 * an error if the history cannot be read or a file cannot be written. */
int run_report_write(const char *directory, struct err *err);

/* Converts the lines of a history, which run_log.c writes, into one document with the JSON members
 * model, unit, steps, options, about, result, done, runs, started, ended, seconds, points and
 * events. The first six are missing if the history does not have them. */
struct json *run_report_document(struct arena *arena, const struct json *lines);

/* Appends the page for a document of run_report_document() to `html`. */
void run_report_page(const struct json *document, struct buf *html);

#endif
