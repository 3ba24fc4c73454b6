/* The report of the training run a model came from (train/run/run_report.h), at /report of the page
 * that serves the model. It is read when it is asked for, since a run that goes on writes it again.
 */
#ifndef TRAINYARD_SERVE_REPORT_PAGE_H
#define TRAINYARD_SERVE_REPORT_PAGE_H

#include "loop/loop.h"
#include "net/http/http.h"

enum { REPORT_PAGE_MAX = 64 << 20 };

/* Whether a page should link it; `path` may be NULL. */
bool report_page_exists(const char *path);

/* Reads the file on the loop's pool and answers with it. `path` must outlive the answer. */
void report_page_respond(struct loop *loop, const char *path, struct http_exchange *exchange);

#endif
