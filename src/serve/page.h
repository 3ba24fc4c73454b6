/* Sends the responses that all pages share: the style sheet, script, icon and help page, JSON, and
 * errors. An error is {"error": sentence}, the format that clients of TensorFlow Serving expect. */
#ifndef TRAINYARD_SERVE_PAGE_H
#define TRAINYARD_SERVE_PAGE_H

#include "base/buf.h"
#include "base/json/json.h"
#include "net/http/http.h"
#include "serve/asset.h"

/* Limit of the request body in bytes. The page scales a photo down to less than 1 MiB before
 * sending. An original camera file, sent by another program, has up to 12 MiB. */
enum { PAGE_BODY_MAX = 12 << 20 };

/* An http_write_refusal. If a request is too large, the response tells the client the limit. */
void page_write_refusal(int status, const char *sentence, struct buf *body);

/* Answers a GET of a file that all pages share. Returns false if `path` is not such a file. */
bool page_respond_asset(struct http_exchange *exchange, const char *path);

void page_respond_html(struct http_exchange *exchange, struct asset html);
void page_respond_json(struct http_exchange *exchange, int status, const struct json *json);
void page_respond_error(struct http_exchange *exchange, const struct err *err);
void page_respond_refusal(struct http_exchange *exchange, enum err_code code, const char *sentence);
/* Sends the pixels as a PNG. `channels` is 1 or 3. */
void page_respond_png(struct http_exchange *exchange, const uint8_t *pixels, size_t width,
                      size_t height, size_t channels);

#endif
