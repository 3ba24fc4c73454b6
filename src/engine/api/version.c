/* Checks the resourceVersion of a read; see call.h. A client sends it to avoid reading a state that
 * is older than the state it has seen. The server has only the newest state. A request for a later
 * version fails with a timeout: the client has seen another store, or must wait. */
#include "base/str.h"
#include "engine/api/call.h"
#include "kube/status.h"

#include <inttypes.h>

enum { RETRY_AFTER_S = 1 };

int api_parse_version(const char *text, int64_t *ret, struct err *err)
{
    if (str_to_int64(text, 0, INT64_MAX, ret, NULL) < 0)
        return err_set(err, ERR_UNKNOWN,
                       "resourceVersion: Invalid value: \"%.100s\": strconv.ParseUint: parsing "
                       "\"%.100s\": invalid syntax",
                       text, text);
    return 0;
}

int api_check_version(struct api_call *call, int64_t *ret, struct err *err)
{
    const char *text = api_query(call, "resourceVersion");
    int64_t current = store_revision(engine_store(call->engine)), requested = 0;
    int result = str_is_empty(text) ? 0 : api_parse_version(text, &requested, err);
    if (result < 0)
        return result;
    if (requested > current)
        return err_set(err, ERR_TIMEOUT,
                       "Timeout: Too large resource version: %" PRId64 ", current: %" PRId64,
                       requested, current);
    *ret = requested;
    return 0;
}

/* Clients recognise this timeout by its cause, and list again without a resourceVersion. */
struct json *api_too_new_status(struct arena *arena, const struct err *err)
{
    struct json *causes = json_array(arena);
    kube_status_add_cause(arena, causes, "ResourceVersionTooLarge", NULL,
                          "Too large resource version");
    return kube_status_from_err(
        arena, err,
        &(struct kube_status_details){.causes = causes, .retry_after_seconds = RETRY_AFTER_S});
}
