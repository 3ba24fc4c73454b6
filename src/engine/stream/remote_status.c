/* Makes the Status of a command that has ended; see remote_status.h. */
#include "engine/stream/remote_status.h"

#include "base/json/json.h"

static struct json *begin_status(struct arena *arena, const char *status, const char *message)
{
    struct json *object = json_object(arena);
    json_set(arena, object, "metadata", json_object(arena));
    json_set_string(arena, object, "status", status);
    if (message)
        json_set_string(arena, object, "message", message);
    return object;
}

static void add_cause(struct arena *arena, struct json *status, const char *reason,
                      const char *message)
{
    struct json *details = json_object(arena), *causes = json_array(arena),
                *cause = json_object(arena);
    if (reason)
        json_set_string(arena, cause, "reason", reason);
    json_set_string(arena, cause, "message", message);
    json_append(causes, cause);
    json_set(arena, details, "causes", causes);
    json_set(arena, status, "details", details);
}

static const char *join_words(struct arena *arena, const char *const *words)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, REMOTE_STATUS_MAX / 8);
    for (size_t i = 0; words[i]; i++)
        buf_printf(&text, "%s%s", i ? " " : "", words[i]);
    return arena_strndup(arena, text.data, text.size);
}

void remote_status_write(const struct engine_pod_command *command, int exit_code,
                         const struct err *err, bool plain, struct buf *buf)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *status;
    const char *message = NULL;
    if (err) {
        const char *cause = arena_printf(
            arena, "error %s container: %s",
            command->arguments ? "executing command in" : "attaching to", err->message);
        message = arena_printf(arena, "Internal error occurred: %s", cause);
        status = begin_status(arena, "Failure", message);
        json_set_string(arena, status, "reason", "InternalError");
        add_cause(arena, status, NULL, cause);
        json_set_int(arena, status, "code", 500);
    } else if (exit_code != 0 && command->arguments) {
        message = arena_printf(arena,
                               "command terminated with non-zero exit code: error executing "
                               "command [%s], exit code %d",
                               join_words(arena, command->arguments), exit_code);
        status = begin_status(arena, "Failure", message);
        json_set_string(arena, status, "reason", "NonZeroExitCode");
        add_cause(arena, status, "ExitCode", arena_printf(arena, "%d", exit_code));
    } else {
        status = begin_status(arena, "Success", NULL);
    }
    if (!plain)
        json_write(status, buf);
    else if (message)
        buf_append_str(buf, message);
}
