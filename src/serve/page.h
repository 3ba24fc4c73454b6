/* Sends the responses that all pages share: the style sheet, the script, the icon and the help
 * page, JSON, and errors. An error is a JSON object {"error": SENTENCE}, the format that clients of
 * TensorFlow Serving expect. The handlers of the pages and the monitor call it, on the thread of
 * their loop. */
#ifndef TRAINYARD_SERVE_PAGE_H
#define TRAINYARD_SERVE_PAGE_H

#include "base/buf.h"
#include "base/json/json.h"
#include "net/http/http.h"
#include "serve/asset.h"

/* Limit of the request body in bytes. The upload page scales large photos down before it sends
 * them, but other programs send the files of a camera, which may have 12 MiB. */
enum { PAGE_BODY_MAX = 12 << 20 };

/* An http_write_refusal (net/http/server.h): writes the body of an error response. For status 413
 * it writes a sentence of its own, with the limit, instead of `sentence`. */
void page_write_refusal(int status, const char *sentence, struct buf *body);

/* Sends the file at `path`, if it is one of the files that all pages share. Otherwise returns false
 * and sends nothing. */
bool page_respond_asset(struct http_exchange *exchange, const char *path);

void page_respond_html(struct http_exchange *exchange, struct asset html);
void page_respond_json(struct http_exchange *exchange, int status, const struct json *json);
/* The HTTP status of an error depends on its code (err_info()). */
void page_respond_error(struct http_exchange *exchange, const struct err *err);
void page_respond_refusal(struct http_exchange *exchange, enum err_code code, const char *sentence);
/* Sends the pixels as a PNG. `channels` is 1 or 3. */
void page_respond_png(struct http_exchange *exchange, const uint8_t *pixels, size_t width,
                      size_t height, size_t channels);

#endif
