/* Implements the HTML page of a run's report; see run_report_page() in run_report.h. The page has
 * no scripts and no external resources. All text of the document is escaped. */
#include "train/run/run_report.h"

#include "base/mem.h"
#include "base/str.h"
#include "train/run/run_chart.h"

#include <math.h>
#include <string.h>

static const char STYLE[] =
    ":root{--ink:#1c2430;--soft:#566070;--line:#e3e7ed;--paper:#fff;--back:#f5f7fa;--curve:#2563eb;"
    "--lost:#dc2626;--resumed:#d97706}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#98a2b3;--line:#2b3440;"
    "--paper:#161c24;--back:#0e1319;--curve:#6ea8fe;--lost:#f87171;--resumed:#fbbf24}}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--back);color:var(--ink);"
    "font:15px/1.5 system-ui,sans-serif}main{max-width:860px;margin:0 auto;padding:32px 20px "
    "64px}\n"
    "h1{font-size:26px;margin:0 0 4px}h2{font-size:17px;margin:36px 0 10px}p{margin:0}"
    ".about,.times,figcaption,dt,th{color:var(--soft)}.times{margin-top:4px}\n"
    "dl.key{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:12px;"
    "margin:24px 0 0}dl.key div,figure,.result,.box{background:var(--paper);border:1px solid "
    "var(--line);border-radius:10px;padding:12px 16px}dl.key dt{font-size:13px}dl.key "
    "dd{margin:0;font-size:21px;font-variant-numeric:tabular-nums}\n"
    "figure{margin:0 0 14px}figcaption{font-size:13px;margin-bottom:10px}.plot{position:relative;"
    "height:184px;margin:0 8px 24px 52px}svg{width:100%;height:100%;display:block;"
    "overflow:visible}.plot span{position:absolute;color:var(--soft);font-size:12px;line-height:1;"
    "white-space:nowrap}.plot .y{right:100%;margin-right:8px;transform:translateY(-50%)}"
    ".plot .x{top:100%;margin-top:9px;transform:translateX(-50%)}"
    "line,polyline{vector-effect:non-scaling-stroke}svg .grid{stroke:var(--line)}"
    "polyline{fill:none;stroke:var(--curve);stroke-width:1.8;stroke-linejoin:round}"
    ".lost{stroke:var(--lost);stroke-width:1.5}.resumed{stroke:var(--resumed);stroke-dasharray:4 "
    "3}\n"
    "table{border-collapse:collapse;width:100%;font-size:14px}td,th{text-align:left;"
    "vertical-align:top;padding:4px 14px 4px 0;border-top:1px solid var(--line)}tr:first-child "
    "td,tr:first-child th{border-top:0}th{font-weight:normal;white-space:nowrap;width:1%}td{"
    "overflow-wrap:anywhere}"
    "@media(max-width:600px){main{padding:20px 12px 48px}.plot .wide{display:none}"
    ".events tr,.events th,.events td{display:block;width:auto;padding:0;border:0}.events "
    "tr{padding:8px 0;border-top:1px solid var(--line)}.events tr:first-child{border-top:0}}\n"
    ".swatch{display:inline-block;width:14px;border-top:2px solid;"
    "vertical-align:middle;margin:0 6px 0 12px}\n";

static void write_page_text(struct buf *html, const char *text)
{
    for (; text && *text; text++) {
        switch (*text) {
        case '&':
            buf_append_str(html, "&amp;");
            break;
        case '<':
            buf_append_str(html, "&lt;");
            break;
        case '>':
            buf_append_str(html, "&gt;");
            break;
        case '"':
            buf_append_str(html, "&quot;");
            break;
        default:
            buf_append_char(html, *text);
        }
    }
}

static void write_value(struct buf *html, const struct json *value)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, 1 << 16);
    if (!json_text(value))
        json_write(value, &text);
    write_page_text(html, json_text(value) ? json_text(value) : text.data);
}

static void write_key(struct buf *html, const char *name, const char *value)
{
    buf_append_str(html, "<div><dt>");
    write_page_text(html, name);
    buf_append_str(html, "</dt><dd>");
    write_page_text(html, value);
    buf_append_str(html, "</dd></div>\n");
}

/* Returns the value of a member in the last point that has it, or NAN. */
static double last_of(const struct json *points, const char *name)
{
    double last = (double)NAN;
    JSON_EACH (point, points)
        last = json_number(json_get(point, name), last);
    return last;
}

/* Writes a key figure with a unit after its number. Writes nothing if the value is not known. */
static void write_key_number(struct buf *html, const char *name, const char *suffix, double value,
                             int digits)
{
    if (!isfinite(value))
        return;
    _cleanup_free_ char *text = mem_printf("%.*f%s", digits, value, suffix);
    write_key(html, name, text);
}

static void write_keys(struct buf *html, const struct json *document)
{
    const struct json *points = json_get(document, "points");
    const char *unit = json_get_string(document, "unit", "examples");
    int64_t seconds = (int64_t)json_number(json_get(document, "seconds"), 0);
    _cleanup_free_ char *steps =
        mem_printf("%lld / %lld", (long long)json_get_int(document, "done", 0),
                   (long long)json_get_int(document, "steps", 0));
    _cleanup_free_ char *time =
        mem_printf("%lld:%02lld:%02lld", (long long)(seconds / 3600),
                   (long long)(seconds / 60 % 60), (long long)(seconds % 60));
    _cleanup_free_ char *rate = mem_printf("%s per second", unit);
    buf_append_str(html, "<dl class=\"key\">\n");
    write_key(html, "steps", steps);
    write_key_number(html, "last loss", "", last_of(points, "loss"), 4);
    write_key_number(html, "accuracy of a batch", " %", 100 * last_of(points, "accuracy"), 1);
    write_key_number(html, rate, "", last_of(points, "rate"), 0);
    write_key(html, "training time", time);
    buf_append_str(html, "</dl>\n");
}

/* Returns the marks for lost workers and resumes, which are vertical lines across the curves. The
 * caller frees them. */
static struct run_chart_mark *find_marks(const struct json *document, size_t *ret_count)
{
    const struct json *events = json_get(document, "events");
    struct run_chart_mark *marks = mem_calloc(json_count(events) + 1, sizeof(*marks));
    size_t count = 0;
    JSON_EACH (event, events) {
        const char *kind = json_get_string(event, "event", "");
        if (str_eq(kind, "lost") || str_eq(kind, "resumed"))
            marks[count++] = (struct run_chart_mark){
                .x = json_number(json_get(event, "step"), 0),
                .kind = str_eq(kind, "lost") ? "lost" : "resumed",
            };
    }
    *ret_count = count;
    return marks;
}

static void write_charts(struct buf *html, const struct json *document)
{
    const struct json *points = json_get(document, "points");
    size_t count = json_count(points), marks_count = 0, at = 0;
    _cleanup_free_ double *x = mem_calloc(count + 1, sizeof(*x));
    _cleanup_free_ double *y = mem_calloc(count + 1, sizeof(*y));
    _cleanup_free_ struct run_chart_mark *marks = find_marks(document, &marks_count);
    _cleanup_buf_ struct buf title;
    const struct {
        const char *member, *title;
    } CURVES[] = {{"loss", "loss"},
                  {"accuracy", "accuracy of a batch"},
                  {"rate", "per second"},
                  {"learningRate", "learning rate"}};
    buf_init(&title, 256);
    JSON_EACH (point, points)
        x[at++] = json_number(json_get(point, "step"), 0);
    for (size_t i = 0; i < ARRAY_SIZE(CURVES); i++) {
        at = 0;
        JSON_EACH (point, points)
            y[at++] = json_number(json_get(point, CURVES[i].member), (double)NAN);
        buf_clear(&title);
        if (str_eq(CURVES[i].member, "rate")) {
            write_page_text(&title, json_get_string(document, "unit", "examples"));
            buf_append_char(&title, ' ');
        }
        buf_append_str(&title, CURVES[i].title);
        struct run_chart chart = {.title = title.data,
                                  .x = x,
                                  .y = y,
                                  .count = count,
                                  .marks = marks,
                                  .mark_count = marks_count};
        run_chart_write(&chart, html);
    }
    if (marks_count)
        buf_append_str(html, "<p class=\"times\"><span class=\"swatch\" "
                             "style=\"color:var(--lost)\"></span>a worker was lost<span "
                             "class=\"swatch\" style=\"color:var(--resumed);border-top-style:"
                             "dashed\"></span>the run was resumed</p>\n");
}

static void write_events(struct buf *html, const struct json *events)
{
    if (!json_count(events))
        return;
    buf_append_str(html, "<h2>What happened</h2>\n<div class=\"box\"><table class=\"events\">\n");
    JSON_EACH (event, events) {
        buf_append_str(html, "<tr><th>");
        write_page_text(html, json_get_string(event, "time", ""));
        buf_printf(html, "</th><th>step %lld</th><td>", (long long)json_get_int(event, "step", 0));
        write_page_text(html,
                        json_get_string(event, "message", json_get_string(event, "event", "")));
        buf_append_str(html, "</td></tr>\n");
    }
    buf_append_str(html, "</table></div>\n");
}

static void write_options(struct buf *html, const struct json *options)
{
    if (!json_count(options))
        return;
    buf_append_str(html, "<h2>Options</h2>\n<div class=\"box\"><table>\n");
    JSON_EACH (option, options) {
        if (option->type == JSON_NULL || (option->type == JSON_ARRAY && !json_count(option)))
            continue;
        buf_append_str(html, "<tr><th>--");
        write_page_text(html, option->name);
        buf_append_str(html, "</th><td>");
        write_value(html, option);
        buf_append_str(html, "</td></tr>\n");
    }
    buf_append_str(html, "</table></div>\n");
}

void run_report_page(const struct json *document, struct buf *html)
{
    const char *model = json_get_string(document, "model", "a model");
    buf_append_str(html, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
                         "<link rel=\"icon\" href=\"data:,\">"
                         "<title>Training: ");
    write_page_text(html, model);
    buf_printf(html, "</title><style>\n%s</style></head><body><main>\n<h1>Training: ", STYLE);
    write_page_text(html, model);
    buf_append_str(html, "</h1>\n<p class=\"about\">");
    write_page_text(html, json_get_string(document, "about", ""));
    buf_append_str(html, "</p>\n<p class=\"times\">");
    write_page_text(html, json_get_string(document, "started", ""));
    buf_append_str(html, " – ");
    write_page_text(html, json_get_string(document, "ended", ""));
    int64_t runs = json_get_int(document, "runs", 0);
    if (runs > 1)
        buf_printf(html, ", in %lld runs", (long long)runs);
    buf_append_str(html, "</p>\n");
    write_keys(html, document);
    if (json_get_string(document, "result", NULL)) {
        buf_append_str(html, "<h2>Result</h2>\n<p class=\"result\">");
        write_page_text(html, json_get_string(document, "result", NULL));
        buf_append_str(html, "</p>\n");
    }
    buf_append_str(html, "<h2>Training curves</h2>\n");
    write_charts(html, document);
    write_events(html, json_get(document, "events"));
    write_options(html, json_get(document, "options"));
    buf_append_str(html, "</main></body></html>\n");
}
