/* What the pages share: files that every page needs (style, script, icon, help), JSON answers, and
 * errors as {"error": sentence}, which both the scripts of our pages and clients of TensorFlow
 * Serving read. */
#ifndef TRAINYARD_SERVE_PAGE_H
#define TRAINYARD_SERVE_PAGE_H

#include "base/json.h"
#include "net/http.h"
#include "serve/asset.h"

/* Answers GET of the files that every page needs; false: `path` is none of them. */
bool page_respond_asset(struct http_exchange *exchange, const char *path);

void page_respond_html(struct http_exchange *exchange, struct asset html);
void page_respond_json(struct http_exchange *exchange, int status, const struct json *json);
void page_respond_error(struct http_exchange *exchange, const struct err *err);
void page_respond_refusal(struct http_exchange *exchange, enum err_code code, const char *sentence);
/* Pixels as a PNG; channels 1 or 3. */
void page_respond_png(struct http_exchange *exchange, const uint8_t *pixels, size_t width,
                      size_t height, size_t channels);

#endif
