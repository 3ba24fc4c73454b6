/* Serves the report of the training run that produced a model (train/run/run_report.h), as /report
 * next to the page of the model. Each request reads the file again, because a running training
 * rewrites it. */
#ifndef TRAINYARD_SERVE_REPORT_PAGE_H
#define TRAINYARD_SERVE_REPORT_PAGE_H

#include "loop/loop.h"
#include "net/http/http.h"

enum { REPORT_PAGE_MAX = 64 << 20 };

/* Whether a page should link to the report. `path` may be NULL. */
bool report_page_exists(const char *path);

/* Reads the file on the loop's pool and sends it. `path` must stay valid until the response is
 * sent. */
void report_page_respond(struct loop *loop, const char *path, struct http_exchange *exchange);

#endif
