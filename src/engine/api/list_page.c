/* Parses and makes the tokens of list pages; see list_page.h. */
#include "engine/api/list_page.h"

#include "base/base64.h"
#include "base/json/json.h"
#include "base/str.h"

#include <string.h>

static const char VERSION[] = "meta.k8s.io/v1";

static int bad_token(struct err *err)
{
    return err_set(err, ERR_BAD_REQUEST,
                   "invalid continue token: continue key is not valid: this server has "
                   "not issued it; list again without it");
}

static int parse_token(struct arena *arena, const char *token, struct list_page *page,
                       struct err *err)
{
    char *text;
    size_t size;
    struct json *json;
    if (strlen(token) > LIST_PAGE_TOKEN_MAX ||
        base64_decode_url(arena, token, &text, &size, NULL) < 0 ||
        json_parse(arena, text, size, NULL, &json, NULL) < 0)
        return bad_token(err);
    page->after = json_get_string(json, "start", "");
    page->revision = json_get_int(json, "rv", 0);
    if (!str_eq(json_get_string(json, "v", NULL), VERSION) || page->after[0] == '\0' ||
        page->revision <= 0)
        return bad_token(err);
    return 0;
}

int list_page_parse(struct arena *arena, const char *limit, const char *token,
                    struct list_page *ret, struct err *err)
{
    struct list_page page = {.after = ""};
    int64_t count = 0;
    if (!str_is_empty(limit) && str_to_int64(limit, INT64_MIN, INT64_MAX, &count, NULL) < 0)
        return err_set(err, ERR_BAD_REQUEST, "strconv.ParseInt: parsing \"%.100s\": invalid syntax",
                       limit);
    /* A limit below 0 means no limit, as in Kubernetes. */
    page.limit = count > 0 ? (size_t)count : 0;
    int result = str_is_empty(token) ? 0 : parse_token(arena, token, &page, err);
    if (result == 0)
        *ret = page;
    return result;
}

char *list_page_token(struct arena *arena, const char *after, int64_t revision)
{
    struct json *json = json_object(arena);
    json_set_string(arena, json, "v", VERSION);
    json_set_int(arena, json, "rv", revision);
    json_set_string(arena, json, "start", after);
    const char *text = json_to_string(arena, json);
    return base64_encode_url(arena, text, strlen(text));
}
