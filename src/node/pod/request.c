/* Requests to a supervisor and its answers, written and read; see pod/request.h. */
#include "node/pod/request.h"

#include "base/mem.h"
#include "base/str.h"
#include "node/pod/record.h"

static const char *const REQUEST_KINDS[] = {[POD_EXEC] = "exec", [POD_ATTACH] = "attach"};
static const char *const ANSWER_KINDS[] = {
    [POD_STARTED] = "started", [POD_REFUSED] = "refused", [POD_ENDED] = "ended"};

static int find_kind(const char *const *names, size_t count, const char *name, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(names[i], name))
            return (int)i;
    return err_set(err, ERR_UNSUPPORTED, "'%.32s' is no kind of message known here", name);
}

static int parse_bool(const char *value, bool *ret, struct err *err)
{
    int64_t number;
    int result = str_to_int64(value, 0, 1, &number, err);
    if (result == 0)
        *ret = number != 0;
    return result;
}

/* ---- requests -------------------------------------------------------------------------------- */

int pod_request_write(const struct pod_request *request, struct buf *buf, struct err *err)
{
    record_write(buf, "kind", REQUEST_KINDS[request->kind]);
    record_write(buf, "container", request->container);
    record_write_int(buf, "stdin", request->in);
    record_write_int(buf, "stdout", request->out);
    record_write_int(buf, "stderr", request->err);
    record_write_int(buf, "terminal", request->terminal);
    for (size_t i = 0; i < request->arguments.count; i++)
        record_write(buf, "arg", request->arguments.items[i]);
    return buf->overflowed || buf->size > POD_REQUEST_MAX
               ? err_set(err, ERR_TOO_LARGE,
                         "the command is too long: its words have more than %d KiB",
                         POD_REQUEST_MAX / 1024)
               : 0;
}

static int parse_request_record(struct arena *arena, struct pod_request *request, const char *key,
                                const char *value, struct err *err)
{
    if (str_eq(key, "kind")) {
        int kind = find_kind(REQUEST_KINDS, ARRAY_SIZE(REQUEST_KINDS), value, err);
        if (kind < 0)
            return kind;
        request->kind = (enum pod_request_kind)kind;
    } else if (str_eq(key, "container")) {
        request->container = value;
    } else if (str_eq(key, "arg")) {
        pod_strings_add(arena, &request->arguments, value);
    } else if (str_eq(key, "stdin")) {
        return parse_bool(value, &request->in, err);
    } else if (str_eq(key, "stdout")) {
        return parse_bool(value, &request->out, err);
    } else if (str_eq(key, "stderr")) {
        return parse_bool(value, &request->err, err);
    } else if (str_eq(key, "terminal")) {
        return parse_bool(value, &request->terminal, err);
    } else {
        return err_set(err, ERR_UNSUPPORTED, "unknown key '%.32s'", key);
    }
    return 0;
}

int pod_request_parse(struct arena *arena, char *text, size_t size, struct pod_request *ret,
                      struct err *err)
{
    struct pod_request request = {0};
    struct record_reader reader;
    const char *key;
    char *value;
    int got;
    record_reader_init(&reader, text, size);
    while ((got = record_next(&reader, &key, &value, err)) > 0)
        if ((got = parse_request_record(arena, &request, key, value, err)) < 0)
            break;
    if (got < 0)
        return err_wrap(err, "line %u", reader.line);
    if (!request.container)
        return err_set(err, ERR_INVALID, "no container is named");
    if (request.kind == POD_EXEC && request.arguments.count == 0)
        return err_set(err, ERR_INVALID, "no command is given");
    *ret = request;
    return 0;
}

/* ---- answers --------------------------------------------------------------------------------- */

void pod_answer_write(const struct pod_answer *answer, struct buf *buf)
{
    record_write(buf, "kind", ANSWER_KINDS[answer->kind]);
    if (answer->kind == POD_REFUSED) {
        record_write_int(buf, "code", answer->why.code);
        record_write(buf, "message", answer->why.message);
    } else if (answer->kind == POD_ENDED) {
        record_write_int(buf, "exit-code", answer->exit_code);
        record_write(buf, "message", answer->message);
    }
}

static int parse_answer_record(struct pod_answer *answer, const char *key, const char *value,
                               struct err *err)
{
    int64_t number = 0;
    int result = 0;
    if (str_eq(key, "kind")) {
        result = find_kind(ANSWER_KINDS, ARRAY_SIZE(ANSWER_KINDS), value, err);
        if (result >= 0)
            answer->kind = (enum pod_answer_kind)result;
    } else if (str_eq(key, "code")) {
        result = str_to_int64(value, ERR_INTERNAL, ERR_CODES - 1, &number, err);
        answer->why.code = (enum err_code)number;
    } else if (str_eq(key, "exit-code")) {
        result = str_to_int64(value, 0, 255, &number, err);
        answer->exit_code = (int)number;
    } else if (str_eq(key, "message")) {
        str_copy(answer->message, sizeof(answer->message), value);
        str_copy(answer->why.message, sizeof(answer->why.message), value);
    } else {
        return err_set(err, ERR_UNSUPPORTED, "unknown key '%.32s'", key);
    }
    return result < 0 ? result : 0;
}

int pod_answer_parse(char *text, size_t size, struct pod_answer *ret, struct err *err)
{
    struct pod_answer answer = {.why.code = ERR_INTERNAL};
    struct record_reader reader;
    const char *key;
    char *value;
    int got;
    record_reader_init(&reader, text, size);
    while ((got = record_next(&reader, &key, &value, err)) > 0)
        if ((got = parse_answer_record(&answer, key, value, err)) < 0)
            break;
    if (got < 0)
        return err_wrap(err, "line %u", reader.line);
    if (reader.line == 0)
        return err_set(err, ERR_INVALID, "the message is empty");
    *ret = answer;
    return 0;
}
