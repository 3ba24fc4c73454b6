/* Serves the health endpoints; see health.h. */
#include "engine/health.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

enum { TEXT_MAX = 4096 };

const char *const HEALTH_PATHS[] = {"/healthz", "/livez", "/readyz", NULL};

/* Returns the reason why the store accepts no new objects, or NULL if it accepts them. Anonymous
 * clients may read the text, so it does not contain the path of the store's file. */
static const char *store_complaint(const struct store *store)
{
    struct err err = ERR_INIT;
    if (store_check(store, &err) == 0)
        return NULL;
    return err.sys == ENOSPC ? "no space is left on its disk, only deletions are written"
                             : "it cannot write any more, the log of the server says why";
}

static void health_respond(struct http_exchange *exchange, const char *complaint,
                           bool looks_at_store)
{
    const struct http_request *request = exchange->request;
    bool verbose = http_query_get(exchange->arena, request->query, "verbose") != NULL;
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    if (!verbose && !complaint) {
        http_respond(exchange, 200, "text/plain", "ok", 2);
        return;
    }
    buf_append_str(&text, "[+]ping ok\n");
    if (complaint)
        buf_printf(&text, "[-]store failed: %s\n", complaint);
    else if (looks_at_store)
        buf_append_str(&text, "[+]store ok\n");
    buf_printf(&text, "%s check %s\n", request->path + 1, complaint ? "failed" : "passed");
    http_respond(exchange, complaint ? 500 : 200, "text/plain; charset=utf-8", text.data,
                 text.size);
}

bool health_handle(struct http_exchange *exchange, const struct store *store)
{
    const char *path = exchange->request->path;
    if (!str_eq(exchange->request->method, "GET"))
        return false;
    for (size_t i = 0; HEALTH_PATHS[i]; i++) {
        if (str_eq(path, HEALTH_PATHS[i])) {
            bool looks_at_store = !str_eq(path, "/livez");
            health_respond(exchange, looks_at_store ? store_complaint(store) : NULL,
                           looks_at_store);
            return true;
        }
    }
    return false;
}
