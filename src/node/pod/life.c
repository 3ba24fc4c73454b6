/* Probes and hooks in the supervisor's orders, written and read; see pod/life.h. */
#include "node/pod/life.h"

#include "base/mem.h"
#include "base/str.h"
#include "node/pod/record.h"

static const char *const KINDS[] = {
    [HANDLER_NONE] = "none", [HANDLER_EXEC] = "exec", [HANDLER_HTTP] = "http",
    [HANDLER_TCP] = "tcp",   [HANDLER_GRPC] = "grpc", [HANDLER_SLEEP] = "sleep",
};

/* The numbers of a probe, by their key. */
static const struct {
    const char *key;
    size_t offset;
    int64_t min;
} FIGURES[] = {
    {"probe-delay", offsetof(struct probe_figures, initial_delay_ms), 0},
    {"probe-period", offsetof(struct probe_figures, period_ms), 1},
    {"probe-timeout", offsetof(struct probe_figures, timeout_ms), 1},
    {"probe-success", offsetof(struct probe_figures, success_threshold), 1},
    {"probe-failure", offsetof(struct probe_figures, failure_threshold), 1},
    {"probe-grace", offsetof(struct probe_figures, grace_ms), -1},
};

static int64_t *figure_at(struct probe_figures *figures, size_t row)
{
    return (int64_t *)((char *)figures + FIGURES[row].offset);
}

static void write_optional(struct buf *buf, const char *key, const char *value)
{
    if (value)
        record_write(buf, key, value);
}

static void write_handler(const struct pod_handler *handler, struct buf *buf)
{
    record_write(buf, "handler", KINDS[handler->kind]);
    for (size_t i = 0; i < handler->words.count; i++)
        record_write(buf, "handler-word", handler->words.items[i]);
    write_optional(buf, "handler-host", handler->host);
    record_write_int(buf, "handler-port", handler->port);
    write_optional(buf, "handler-path", handler->path);
    record_write_int(buf, "handler-tls", handler->tls);
    for (size_t i = 0; i < handler->headers.count; i++)
        record_write(buf, "handler-header", handler->headers.items[i]);
    write_optional(buf, "handler-service", handler->service);
    record_write_int(buf, "handler-sleep", handler->sleep_ms);
}

static void write_hook(const char *name, const struct pod_handler *handler, struct buf *buf)
{
    if (handler->kind == HANDLER_NONE)
        return;
    record_write(buf, "hook", name);
    write_handler(handler, buf);
}

void pod_life_write(const struct pod_life *life, struct buf *buf)
{
    for (int kind = 0; kind < PROBE_KINDS; kind++) {
        struct probe_figures figures = life->figures[kind];
        if (!figures.given)
            continue;
        record_write(buf, "probe", probe_kind_name(kind));
        for (size_t row = 0; row < ARRAY_SIZE(FIGURES); row++)
            record_write_int(buf, FIGURES[row].key, *figure_at(&figures, row));
        write_handler(&life->probes[kind], buf);
    }
    write_hook("post-start", &life->post_start, buf);
    write_hook("pre-stop", &life->pre_stop, buf);
}

static int read_opening(struct pod_life_reader *reader, const char *key, const char *value,
                        struct err *err)
{
    struct pod_life *life = reader->life;
    reader->handler = NULL;
    reader->figures = NULL;
    if (str_eq(key, "hook") && str_eq(value, "post-start"))
        reader->handler = &life->post_start;
    if (str_eq(key, "hook") && str_eq(value, "pre-stop"))
        reader->handler = &life->pre_stop;
    for (int kind = 0; str_eq(key, "probe") && kind < PROBE_KINDS; kind++) {
        if (!str_eq(value, probe_kind_name(kind)))
            continue;
        reader->handler = &life->probes[kind];
        reader->figures = &life->figures[kind];
        *reader->figures = (struct probe_figures){.given = true,
                                                  .period_ms = 10000,
                                                  .timeout_ms = 1000,
                                                  .success_threshold = 1,
                                                  .failure_threshold = 3,
                                                  .grace_ms = -1};
    }
    return reader->handler ? 0 : err_set(err, ERR_INVALID, "unknown %s '%s'", key, value);
}

static int read_kind(struct pod_handler *handler, const char *value, struct err *err)
{
    for (size_t i = 0; i < ARRAY_SIZE(KINDS); i++) {
        if (str_eq(value, KINDS[i])) {
            handler->kind = (enum pod_handler_kind)i;
            return 0;
        }
    }
    return err_set(err, ERR_INVALID, "unknown handler '%s'", value);
}

static int read_number(const char *key, const char *value, int64_t min, int64_t max, int64_t *ret,
                       struct err *err)
{
    return str_to_int64(value, min, max, ret, err) < 0 ? err_wrap(err, "%s", key) : 0;
}

static int read_handler(struct pod_life_reader *reader, const char *key, const char *value,
                        struct err *err)
{
    struct pod_handler *handler = reader->handler;
    int64_t number;
    if (str_eq(key, "handler"))
        return read_kind(handler, value, err);
    if (str_eq(key, "handler-port"))
        return read_number(key, value, 0, 65535, &handler->port, err);
    if (str_eq(key, "handler-sleep"))
        return read_number(key, value, 0, INT64_MAX / 2, &handler->sleep_ms, err);
    if (str_eq(key, "handler-tls")) {
        int result = read_number(key, value, 0, 1, &number, err);
        handler->tls = result == 0 && number != 0;
        return result;
    }
    if (str_eq(key, "handler-word"))
        pod_strings_add(reader->arena, &handler->words, value);
    else if (str_eq(key, "handler-header"))
        pod_strings_add(reader->arena, &handler->headers, value);
    else if (str_eq(key, "handler-host"))
        handler->host = value;
    else if (str_eq(key, "handler-path"))
        handler->path = value;
    else if (str_eq(key, "handler-service"))
        handler->service = value;
    else
        return 1;
    return 0;
}

int pod_life_read(struct pod_life_reader *reader, const char *key, const char *value,
                  struct err *err)
{
    if (str_eq(key, "probe") || str_eq(key, "hook"))
        return read_opening(reader, key, value, err);
    for (size_t row = 0; reader->figures && row < ARRAY_SIZE(FIGURES); row++)
        if (str_eq(key, FIGURES[row].key))
            return read_number(key, value, FIGURES[row].min, INT64_MAX / 2,
                               figure_at(reader->figures, row), err);
    return reader->handler ? read_handler(reader, key, value, err) : 1;
}
