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
static const char *store_problem(const struct store *store)
{
    struct err err = ERR_INIT;
    if (store_check(store, &err) == 0)
        return NULL;
    return err.sys == ENOSPC
               ? "no space is left on its disk; only deletions are accepted until some is freed"
               : "it cannot write any more; the reason is in the log of the server";
}

/* Responds with "ok", or with a line per check if the request has the parameter `verbose` or a
 * check has failed. */
static void health_respond(struct http_exchange *exchange, const char *problem, bool checks_store)
{
    const struct http_request *request = exchange->request;
    bool verbose = http_query_get(exchange->arena, request->query, "verbose") != NULL;
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    if (!verbose && !problem) {
        http_respond(exchange, 200, "text/plain", "ok", 2);
        return;
    }
    buf_append_str(&text, "[+]ping ok\n");
    if (problem)
        buf_printf(&text, "[-]store failed: %s\n", problem);
    else if (checks_store)
        buf_append_str(&text, "[+]store ok\n");
    buf_printf(&text, "%s check %s\n", request->path + 1, problem ? "failed" : "passed");
    http_respond(exchange, problem ? 500 : 200, "text/plain; charset=utf-8", text.data, text.size);
}

bool health_handle(struct http_exchange *exchange, const struct store *store)
{
    const char *path = exchange->request->path;
    if (!str_eq(exchange->request->method, "GET"))
        return false;
    for (size_t i = 0; HEALTH_PATHS[i]; i++) {
        if (str_eq(path, HEALTH_PATHS[i])) {
            bool checks_store = !str_eq(path, "/livez");
            health_respond(exchange, checks_store ? store_problem(store) : NULL, checks_store);
            return true;
        }
    }
    return false;
}
