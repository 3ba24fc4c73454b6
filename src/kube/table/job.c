/* The cells of Jobs; see cells.h. */
#include "base/moment.h"
#include "kube/condition.h"
#include "kube/table/cells.h"

#include <inttypes.h>

/* Returns the completions, such as "2/4". A job without spec.completions needs one success. If
 * several of its pods run in parallel, the cell is "0/1 of 3". */
struct json *table_job_completions(struct arena *arena, const struct json *job, int64_t now_ms)
{
    const struct json *spec = json_get(job, "spec");
    int64_t succeeded = json_get_int(json_get(job, "status"), "succeeded", 0);
    int64_t completions = json_get_int(spec, "completions", -1);
    int64_t parallelism = json_get_int(spec, "parallelism", 1);
    if (completions >= 0)
        return json_stringf(arena, "%" PRId64 "/%" PRId64, succeeded, completions);
    if (parallelism > 1)
        return json_stringf(arena, "%" PRId64 "/1 of %" PRId64, succeeded, parallelism);
    return json_stringf(arena, "%" PRId64 "/1", succeeded);
}

static bool read_time(const struct json *object, const char *name, int64_t *ret)
{
    const char *text = json_get_string(object, name, "");
    return text[0] && moment_parse(text, ret, NULL) == 0;
}

/* Returns the time from the start of the job to its completion or failure, or to now. */
struct json *table_job_duration(struct arena *arena, const struct json *job, int64_t now_ms)
{
    const struct json *status = json_get(job, "status");
    int64_t start, end;
    if (!read_time(status, "startTime", &start))
        return json_string(arena, "");
    if (!read_time(status, "completionTime", &end) &&
        !(kube_condition_is_true(job, "Failed") &&
          read_time(kube_condition_get(job, "Failed"), "lastTransitionTime", &end)))
        end = now_ms;
    char text[MOMENT_TEXT_MAX];
    moment_format_age(end - start, text);
    return json_string(arena, text);
}
