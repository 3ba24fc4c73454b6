/* Implements the responses that all pages share; see page.h. */
#include "serve/page.h"

#include "base/mem.h"
#include "base/str.h"
#include "train/data/picture.h"

#include <string.h>

enum { PNG_MAX = 8 << 20 };

void page_write_refusal(int status, const char *sentence, struct buf *body)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *json = json_object(arena);
    if (status == 413)
        json_set(arena, json, "error",
                 json_stringf(arena,
                              "the upload is larger than the limit of %d MiB: send a smaller one",
                              PAGE_BODY_MAX >> 20));
    else
        json_set_string(arena, json, "error", sentence);
    json_write(json, body);
}

bool page_respond_asset(struct http_exchange *exchange, const char *path)
{
    static const struct {
        const char *path, *type;
        struct asset (*asset)(void);
    } ASSETS[] = {
        {"/style.css", "text/css; charset=utf-8", asset_style_css},
        {"/page.js", "text/javascript; charset=utf-8", asset_page_js},
        {"/icon.svg", "image/svg+xml", asset_icon_svg},
        {"/favicon.ico", "image/svg+xml", asset_icon_svg}, /* for pages that name no icon */
        {"/help", "text/html; charset=utf-8", asset_help_html},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ASSETS); i++)
        if (str_eq(path, ASSETS[i].path)) {
            struct asset asset = ASSETS[i].asset();
            http_respond(exchange, 200, ASSETS[i].type, asset.data, asset.size);
            return true;
        }
    return false;
}

void page_respond_html(struct http_exchange *exchange, struct asset html)
{
    http_respond(exchange, 200, "text/html; charset=utf-8", html.data, html.size);
}

void page_respond_json(struct http_exchange *exchange, int status, const struct json *json)
{
    const char *text = json_to_string(exchange->arena, json);
    http_respond(exchange, status, "application/json; charset=utf-8", text, strlen(text));
}

void page_respond_error(struct http_exchange *exchange, const struct err *err)
{
    struct json *json = json_object(exchange->arena);
    json_set_string(exchange->arena, json, "error", err->message);
    page_respond_json(exchange, err_info(err->code)->http_status, json);
}

void page_respond_refusal(struct http_exchange *exchange, enum err_code code, const char *sentence)
{
    struct err err = ERR_INIT;
    err_set(&err, code, "%s", sentence);
    page_respond_error(exchange, &err);
}

void page_respond_png(struct http_exchange *exchange, const uint8_t *pixels, size_t width,
                      size_t height, size_t channels)
{
    struct err err = ERR_INIT;
    _cleanup_buf_ struct buf png;
    buf_init(&png, PNG_MAX);
    if (picture_encode_png(pixels, width, height, channels, &png, &err) < 0)
        page_respond_error(exchange, &err);
    else
        http_respond(exchange, 200, "image/png", png.data, png.size);
}
