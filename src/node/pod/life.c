/* Reads and writes the text form of probes and hooks; see pod/life.h. */
#include "node/pod/life.h"

#include "base/mem.h"
#include "base/str.h"
#include "node/pod/record/record.h"
#include "node/pod/record/record_rows.h"

static const char *const KINDS[] = {
    [HANDLER_NONE] = "none", [HANDLER_EXEC] = "exec", [HANDLER_HTTP] = "http",
    [HANDLER_TCP] = "tcp",   [HANDLER_GRPC] = "grpc", [HANDLER_SLEEP] = "sleep",
};

static const struct record_row SETTINGS_ROWS[] = {
    RECORD_ROW_INT64(struct probe_settings, initial_delay_ms, "probe-delay", 0, INT64_MAX / 2),
    RECORD_ROW_INT64(struct probe_settings, period_ms, "probe-period", 1, INT64_MAX / 2),
    RECORD_ROW_INT64(struct probe_settings, timeout_ms, "probe-timeout", 1, INT64_MAX / 2),
    RECORD_ROW_INT64(struct probe_settings, success_threshold, "probe-success", 1, INT64_MAX / 2),
    RECORD_ROW_INT64(struct probe_settings, failure_threshold, "probe-failure", 1, INT64_MAX / 2),
    RECORD_ROW_INT64(struct probe_settings, grace_ms, "probe-grace", -1, INT64_MAX / 2),
};
static const struct record_table SETTINGS_TABLE = RECORD_TABLE(SETTINGS_ROWS);

static const struct record_row HANDLER_ROWS[] = {
    RECORD_ROW_WORD(struct pod_handler, kind, "handler", KINDS, ARRAY_SIZE(KINDS)),
    RECORD_ROW_STRINGS(struct pod_handler, words, "handler-word"),
    RECORD_ROW_TEXT(struct pod_handler, host, "handler-host"),
    RECORD_ROW_INT64(struct pod_handler, port, "handler-port", 0, 65535),
    RECORD_ROW_TEXT(struct pod_handler, path, "handler-path"),
    RECORD_ROW_BOOL(struct pod_handler, tls, "handler-tls"),
    RECORD_ROW_STRINGS(struct pod_handler, headers, "handler-header"),
    RECORD_ROW_TEXT(struct pod_handler, service, "handler-service"),
    RECORD_ROW_INT64(struct pod_handler, sleep_ms, "handler-sleep", 0, INT64_MAX / 2),
};
static const struct record_table HANDLER_TABLE = RECORD_TABLE(HANDLER_ROWS);

static void write_hook(const char *name, const struct pod_handler *handler, struct buf *buf)
{
    if (handler->kind == HANDLER_NONE)
        return;
    record_write(buf, "hook", name);
    record_rows_write(&HANDLER_TABLE, handler, buf);
}

void pod_life_write(const struct pod_life *life, struct buf *buf)
{
    for (int kind = 0; kind < PROBE_KINDS; kind++) {
        if (!life->settings[kind].given)
            continue;
        record_write(buf, "probe", probe_kind_name(kind));
        record_rows_write(&SETTINGS_TABLE, &life->settings[kind], buf);
        record_rows_write(&HANDLER_TABLE, &life->probes[kind], buf);
    }
    write_hook("post-start", &life->post_start, buf);
    write_hook("pre-stop", &life->pre_stop, buf);
}

/* Reads the record that begins a probe or hook. */
static int read_opening(struct pod_life_reader *reader, const char *key, const char *value,
                        struct err *err)
{
    struct pod_life *life = reader->life;
    reader->handler = NULL;
    reader->settings = NULL;
    if (str_eq(key, "hook") && str_eq(value, "post-start"))
        reader->handler = &life->post_start;
    if (str_eq(key, "hook") && str_eq(value, "pre-stop"))
        reader->handler = &life->pre_stop;
    for (int kind = 0; str_eq(key, "probe") && kind < PROBE_KINDS; kind++) {
        if (!str_eq(value, probe_kind_name(kind)))
            continue;
        reader->handler = &life->probes[kind];
        reader->settings = &life->settings[kind];
        *reader->settings = (struct probe_settings){.given = true,
                                                    .period_ms = 10000,
                                                    .timeout_ms = 1000,
                                                    .success_threshold = 1,
                                                    .failure_threshold = 3,
                                                    .grace_ms = -1};
    }
    return reader->handler ? 0 : err_set(err, ERR_INVALID, "unknown %s '%s'", key, value);
}

int pod_life_read(struct pod_life_reader *reader, const char *key, const char *value,
                  struct err *err)
{
    if (str_eq(key, "probe") || str_eq(key, "hook"))
        return read_opening(reader, key, value, err);
    int result = record_rows_read(&SETTINGS_TABLE, NULL, reader->settings, key, value, err);
    return result == 1
               ? record_rows_read(&HANDLER_TABLE, reader->arena, reader->handler, key, value, err)
               : result;
}
