/* Writes the report of a run: the model, its data and options, the curves of the training, and the
 * evaluation, as a self-contained page (report.html) and as JSON (report.json). The report is made
 * from the run's history each time the run ends, including by SIGTERM. A resumed run has one report
 * for all its processes. */
#ifndef TRAINYARD_TRAIN_RUN_RUN_REPORT_H
#define TRAINYARD_TRAIN_RUN_RUN_REPORT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json/json.h"

/* The name of the page in the directory of a run. */
#define RUN_REPORT_PAGE "report.html"

/* Writes both files from the history in the same directory. */
int run_report_write(const char *directory, struct err *err);

/* Converts the lines of a history, which run_log.c writes, into one document: model, about, steps,
 * times, options, result, points, events. A member that is missing or of the wrong type in the
 * history is missing in the document. */
struct json *run_report_document(struct arena *arena, const struct json *lines);

/* Writes the page for a document. */
void run_report_page(const struct json *document, struct buf *html);

#endif
