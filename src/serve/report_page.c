/* Implements the serving of a report; see report_page.h. */
#include "serve/report_page.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "serve/page.h"

struct report_read {
    struct loop_work work;
    struct http_exchange *exchange; /* NULL after the client has disconnected */
    const char *path;
    struct buf html;
    struct err err;
};

bool report_page_exists(const char *path)
{
    return !str_is_empty(path) && file_exists(path);
}

/* Runs on a pool thread. */
static void read_report(struct loop_work *work)
{
    struct report_read *read = CONTAINER_OF(work, struct report_read, work);
    file_read(read->path, &read->html, &read->err);
}

static void on_report_read(struct loop_work *work)
{
    struct report_read *read = CONTAINER_OF(work, struct report_read, work);
    struct http_exchange *exchange = read->exchange;
    if (exchange)
        exchange->on_cancel = NULL;
    if (exchange && read->err.code)
        page_respond_refusal(exchange, ERR_NOT_FOUND, "the report of this model cannot be read");
    else if (exchange)
        http_respond(exchange, 200, "text/html; charset=utf-8", read->html.data, read->html.size);
    buf_release(&read->html);
    free(read);
}

static void on_report_client_left(struct http_exchange *exchange)
{
    ((struct report_read *)exchange->context)->exchange = NULL;
}

void report_page_respond(struct loop *loop, const char *path, struct http_exchange *exchange)
{
    if (!report_page_exists(path)) {
        page_respond_refusal(exchange, ERR_NOT_FOUND,
                             "there is no report of this model's training");
        return;
    }
    struct report_read *read = mem_zalloc(sizeof(*read));
    read->work = (struct loop_work){.work = read_report, .done = on_report_read};
    read->exchange = exchange;
    read->path = path;
    buf_init(&read->html, REPORT_PAGE_MAX);
    exchange->context = read;
    exchange->on_cancel = on_report_client_left;
    loop_work_start(loop, &read->work);
}
