/* Serves the report of the training run that produced a model (train/run/run_report.h), as /report
 * beside the page of the model. Each request reads the file again, because a later training process
 * of the run replaces it. The handlers of the pages call it on the loop thread. */
#ifndef TRAINYARD_SERVE_REPORT_PAGE_H
#define TRAINYARD_SERVE_REPORT_PAGE_H

#include "loop/loop.h"
#include "net/http/http.h"

enum { REPORT_PAGE_MAX = 64 << 20 /* bytes */ };

/* Returns whether the file exists, so that a page can link to the report. `path` may be NULL. */
bool report_page_exists(const char *path);

/* Responds with the report, or with an error. Reads the file on the loop's pool, so the response
 * may be sent after this function has returned. `path` may be NULL; otherwise it must stay valid
 * until the file is read, even if the client disconnects first. */
void report_page_respond(struct loop *loop, const char *path, struct http_exchange *exchange);

#endif
