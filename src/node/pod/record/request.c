/* Reads and writes requests to a supervisor and its answers; see pod/record/request.h. */
#include "node/pod/record/request.h"

#include "base/mem.h"
#include "base/str.h"
#include "node/pod/record/record.h"
#include "node/pod/record/record_rows.h"

static const char *const REQUEST_KINDS[] = {[POD_EXEC] = "exec", [POD_ATTACH] = "attach"};
static const char *const ANSWER_KINDS[] = {
    [POD_STARTED] = "started", [POD_REFUSED] = "refused", [POD_ENDED] = "ended"};

/* ---- requests -------------------------------------------------------------------------------- */

static const struct record_row REQUEST_ROWS[] = {
    RECORD_ROW_WORD(struct pod_request, kind, "kind", REQUEST_KINDS, ARRAY_SIZE(REQUEST_KINDS)),
    RECORD_ROW_TEXT(struct pod_request, container, "container"),
    RECORD_ROW_BOOL(struct pod_request, in, "stdin"),
    RECORD_ROW_BOOL(struct pod_request, out, "stdout"),
    RECORD_ROW_BOOL(struct pod_request, err, "stderr"),
    RECORD_ROW_BOOL(struct pod_request, terminal, "terminal"),
    RECORD_ROW_STRINGS(struct pod_request, arguments, "arg"),
};
static const struct record_table REQUEST_TABLE = RECORD_TABLE(REQUEST_ROWS);

int pod_request_write(const struct pod_request *request, struct buf *buf, struct err *err)
{
    record_rows_write(&REQUEST_TABLE, request, buf);
    return buf->overflowed || buf->size > POD_REQUEST_MAX
               ? err_set(err, ERR_TOO_LARGE,
                         "the command is too long: its words have more than %d KiB",
                         POD_REQUEST_MAX / 1024)
               : 0;
}

static int request_unknown_key(const char *key, struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED, "unknown key '%.32s'", key);
}

int pod_request_parse(struct arena *arena, char *text, size_t size, struct pod_request *ret,
                      struct err *err)
{
    struct pod_request request = {0};
    struct record_reader reader;
    const char *key;
    char *value;
    int result;
    record_reader_init(&reader, text, size);
    while ((result = record_next(&reader, &key, &value, err)) > 0) {
        result = record_rows_read(&REQUEST_TABLE, arena, &request, key, value, err);
        if (result == 1)
            result = request_unknown_key(key, err);
        if (result < 0)
            break;
    }
    if (result < 0)
        return err_wrap(err, "line %u", reader.line);
    if (!request.container)
        return err_set(err, ERR_INVALID, "no container is named");
    if (request.kind == POD_EXEC && request.arguments.count == 0)
        return err_set(err, ERR_INVALID, "no command is given");
    *ret = request;
    return 0;
}

/* ---- answers --------------------------------------------------------------------------------- */

static const struct record_row ANSWER_ROWS[] = {
    RECORD_ROW_WORD(struct pod_answer, kind, "kind", ANSWER_KINDS, ARRAY_SIZE(ANSWER_KINDS)),
};
static const struct record_row REFUSED_ROWS[] = {
    RECORD_ROW_INT(struct pod_answer, why.code, "code", ERR_INTERNAL, ERR_CODES - 1),
    RECORD_ROW_CHARS(struct pod_answer, why.message, "message"),
};
static const struct record_row ENDED_ROWS[] = {
    RECORD_ROW_INT(struct pod_answer, exit_code, "exit-code", 0, 255),
    RECORD_ROW_CHARS(struct pod_answer, message, "message"),
};
static const struct record_table ANSWER_TABLE = RECORD_TABLE(ANSWER_ROWS);
/* The records that follow the kind of an answer. */
static const struct record_table KIND_TABLES[] = {
    [POD_STARTED] = {NULL, 0},
    [POD_REFUSED] = RECORD_TABLE(REFUSED_ROWS),
    [POD_ENDED] = RECORD_TABLE(ENDED_ROWS),
};

void pod_answer_write(const struct pod_answer *answer, struct buf *buf)
{
    record_rows_write(&ANSWER_TABLE, answer, buf);
    record_rows_write(&KIND_TABLES[answer->kind], answer, buf);
}

int pod_answer_parse(char *text, size_t size, struct pod_answer *ret, struct err *err)
{
    struct pod_answer answer = {.why.code = ERR_INTERNAL};
    struct record_reader reader;
    const char *key;
    char *value;
    int result;
    record_reader_init(&reader, text, size);
    while ((result = record_next(&reader, &key, &value, err)) > 0) {
        result = record_rows_read(&ANSWER_TABLE, NULL, &answer, key, value, err);
        if (result == 1)
            result = record_rows_read(&KIND_TABLES[answer.kind], NULL, &answer, key, value, err);
        if (result == 1)
            result = request_unknown_key(key, err);
        if (result < 0)
            break;
    }
    if (result < 0)
        return err_wrap(err, "line %u", reader.line);
    if (reader.line == 0)
        return err_set(err, ERR_INVALID, "the message is empty");
    *ret = answer;
    return 0;
}
