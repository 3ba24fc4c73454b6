/* Responses that all pages share: the style sheet, script, icon and help page, JSON, and errors as
 * {"error": sentence}, which the scripts of our pages and clients of TensorFlow Serving read. */
#ifndef TRAINYARD_SERVE_PAGE_H
#define TRAINYARD_SERVE_PAGE_H

#include "base/buf.h"
#include "base/json/json.h"
#include "net/http/http.h"
#include "serve/asset.h"

/* Largest request body in bytes. A photo that the browser scaled down has less than 1 MiB; an
 * original file from a camera, sent by another program, has up to 12 MiB. */
enum { PAGE_BODY_MAX = 12 << 20 };

/* An http_write_refusal: tells the client the limit if a request is too large. */
void page_write_refusal(int status, const char *sentence, struct buf *body);

/* Answers a GET of a file that all pages share. Returns false if `path` is none of them. */
bool page_respond_asset(struct http_exchange *exchange, const char *path);

void page_respond_html(struct http_exchange *exchange, struct asset html);
void page_respond_json(struct http_exchange *exchange, int status, const struct json *json);
void page_respond_error(struct http_exchange *exchange, const struct err *err);
void page_respond_refusal(struct http_exchange *exchange, enum err_code code, const char *sentence);
/* Sends the pixels as a PNG. `channels` is 1 or 3. */
void page_respond_png(struct http_exchange *exchange, const uint8_t *pixels, size_t width,
                      size_t height, size_t channels);

#endif
