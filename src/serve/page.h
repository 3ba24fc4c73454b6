/* What the pages share: files that every page needs (style, script, icon, help), JSON answers, and
 * errors as {"error": sentence}, which both the scripts of our pages and clients of TensorFlow
 * Serving read. */
#ifndef TRAINYARD_SERVE_PAGE_H
#define TRAINYARD_SERVE_PAGE_H

#include "base/buf.h"
#include "base/json/json.h"
#include "net/http/http.h"
#include "serve/asset.h"

/* Bytes of a request. A photo that a browser made smaller has less than one MiB; a camera's own
 * file that comes from another program has up to 12. */
enum { PAGE_BODY_MAX = 12 << 20 };

/* An http_write_refusal: a request that is too large is told the limit in words. */
void page_write_refusal(int status, const char *sentence, struct buf *body);

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
