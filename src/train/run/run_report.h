/* The report of a run: what was trained, on what, with which options, how it went and what came of
 * it, as a page that needs nothing else (report.html) and as JSON (report.json). Made from the
 * run's history whenever the run ends, also by SIGTERM; a run that was resumed is one run in it. */
#ifndef TRAINYARD_TRAIN_RUN_REPORT_H
#define TRAINYARD_TRAIN_RUN_REPORT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json/json.h"

/* The name of the page in the directory of a run. */
#define RUN_REPORT_PAGE "report.html"

/* Both files, from the history in the same directory. */
int run_report_write(const char *directory, struct err *err);

/* Lines of a history (see run_log.c, which writes them) as one document: model, about, steps,
 * times, options, result, points, events. Whatever is missing or of another type there is missing
 * here. */
struct json *run_report_document(struct arena *arena, const struct json *lines);

void run_report_page(const struct json *document, struct buf *html);

#endif
