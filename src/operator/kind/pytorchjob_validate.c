/* Validates the fields that only PyTorchJobs have. training_job_validate() calls
 * training_pytorch_validate() after it has validated the common fields. The first mistake is
 * reported, with a message that starts with the field's path. */
#include "operator/kind/pytorchjob.h"

#include "base/mem.h"
#include "base/str.h"

#include <inttypes.h>
#include <string.h>

#define ELASTIC "spec.elasticPolicy"

static bool is_absent(const struct json *value)
{
    return !value || value->type == JSON_NULL;
}

static int validate_nproc(const struct json *spec, struct err *err)
{
    const struct json *value = json_get(spec, "nprocPerNode");
    const char *text = json_text(value);
    int64_t number;

    if (is_absent(value))
        return 0;
    if (value->type != JSON_STRING)
        return err_set(err, ERR_INVALID,
                       "spec.nprocPerNode: must be a string, is %s; put it in quotes",
                       json_type_name(value->type));
    if (str_eq(text, "auto") || str_eq(text, "cpu") || str_eq(text, "gpu") ||
        str_to_int64(text, 1, INT32_MAX, &number, NULL) == 0)
        return 0;
    return err_set(err, ERR_INVALID,
                   "spec.nprocPerNode: must be auto, cpu, gpu or a positive number, is \"%s\"",
                   text);
}

static int validate_numbers(const struct json *elastic, struct err *err)
{
    static const struct {
        const char *name;
        int64_t min, max;
    } ROWS[] = {
        {"minReplicas", 1, TRAINING_REPLICAS_MAX},
        {"maxReplicas", 1, TRAINING_REPLICAS_MAX},
        {"nProcPerNode", 1, INT32_MAX},
        {"rdzvPort", 1, 65535},
        {"maxRestarts", 0, INT32_MAX},
    };

    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        const struct json *value = json_get(elastic, ROWS[i].name);

        if (is_absent(value))
            continue;
        if (value->type != JSON_INT)
            return err_set(err, ERR_INVALID, ELASTIC ".%s: must be an integer, is %s", ROWS[i].name,
                           json_type_name(value->type));
        if (value->integer < ROWS[i].min || value->integer > ROWS[i].max)
            return err_set(err, ERR_INVALID,
                           ELASTIC ".%s: must be between %" PRId64 " and %" PRId64 ", is %" PRId64,
                           ROWS[i].name, ROWS[i].min, ROWS[i].max, value->integer);
    }
    return 0;
}

static int validate_texts(const struct json *elastic, struct err *err)
{
    static const char *const NAMES[] = {"rdzvBackend", "rdzvHost", "rdzvId"};
    const struct json *standalone = json_get(elastic, "standalone");

    for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++) {
        const struct json *value = json_get(elastic, NAMES[i]);

        if (!is_absent(value) && (value->type != JSON_STRING || str_is_empty(json_text(value))))
            return err_set(err, ERR_INVALID, ELASTIC ".%s: must be a string that is not empty",
                           NAMES[i]);
    }
    if (!is_absent(standalone) && standalone->type != JSON_BOOL)
        return err_set(err, ERR_INVALID, ELASTIC ".standalone: must be true or false, is %s",
                       json_type_name(standalone->type));
    return 0;
}

/* Validates rdzvConf. Its entries become one text, "key=value,key=value", which torchrun splits. */
static int validate_conf(const struct json *elastic, struct err *err)
{
    const struct json *list = json_get(elastic, "rdzvConf");
    size_t position = 0;

    if (is_absent(list))
        return 0;
    if (list->type != JSON_ARRAY)
        return err_set(err, ERR_INVALID, ELASTIC ".rdzvConf: must be a list, is %s",
                       json_type_name(list->type));
    JSON_EACH (item, list) {
        const char *key = json_get_string(item, "key", ""),
                   *value = json_get_string(item, "value", "");

        if (str_is_empty(key) || strpbrk(key, "=,"))
            return err_set(err, ERR_INVALID,
                           ELASTIC
                           ".rdzvConf[%zu].key: must be given and must not contain '=' or ','",
                           position);
        if (strchr(value, ','))
            return err_set(err, ERR_INVALID,
                           ELASTIC ".rdzvConf[%zu].value: must be a string without ','", position);
        position++;
    }
    return 0;
}

static int validate_elastic(const struct json *spec, int64_t workers, struct err *err)
{
    const struct json *elastic = json_get(spec, "elasticPolicy"), *metrics;
    int64_t min, max;

    if (is_absent(elastic))
        return 0;
    if (elastic->type != JSON_OBJECT)
        return err_set(err, ERR_INVALID, ELASTIC ": must be an object, is %s",
                       json_type_name(elastic->type));
    int result = validate_numbers(elastic, err);
    if (result == 0)
        result = validate_texts(elastic, err);
    if (result == 0)
        result = validate_conf(elastic, err);
    if (result < 0)
        return result;
    metrics = json_get(elastic, "metrics");
    if (!is_absent(metrics) && metrics->type != JSON_ARRAY)
        return err_set(err, ERR_INVALID, ELASTIC ".metrics: must be a list, is %s",
                       json_type_name(metrics->type));
    if (workers < 0)
        return err_set(err, ERR_INVALID,
                       "spec.pytorchReplicaSpecs[Worker]: must be configured if elastic policy is "
                       "used");
    if (!is_absent(json_get(spec, "nprocPerNode")) && !is_absent(json_get(elastic, "nProcPerNode")))
        return err_set(err, ERR_INVALID,
                       ELASTIC ".nProcPerNode: must not be used with spec.nprocPerNode");
    training_pytorch_bounds(elastic, workers, &min, &max);
    if (min > max)
        return err_set(err, ERR_INVALID,
                       ELASTIC ".minReplicas: must not be more than maxReplicas %" PRId64
                               ", is %" PRId64,
                       max, min);
    return 0;
}

/* Validates the numbers of masters and workers of a job that has not started. The number of workers
 * of a started job is limited to its bounds instead. */
static int validate_counts(const struct json *spec, int64_t workers, struct err *err)
{
    const struct json *elastic = json_get(spec, "elasticPolicy");
    int64_t masters = training_pytorch_replicas(spec, TRAINING_MASTER, 1), min, max;

    if (masters != 1)
        return err_set(err, ERR_INVALID,
                       "spec.pytorchReplicaSpecs[Master].replicas: must be 1, is %" PRId64,
                       masters);
    if (workers == 0)
        return err_set(err, ERR_INVALID,
                       "spec.pytorchReplicaSpecs[Worker].replicas: must be at least 1, is 0");
    if (is_absent(elastic))
        return 0;
    training_pytorch_bounds(elastic, workers, &min, &max);
    if (workers < min || workers > max)
        return err_set(err, ERR_INVALID,
                       "spec.pytorchReplicaSpecs[Worker].replicas: must be between "
                       "elasticPolicy.minReplicas %" PRId64 " and maxReplicas %" PRId64
                       ", is %" PRId64,
                       min, max, workers);
    return 0;
}

int training_pytorch_validate(const struct json *object, struct err *err)
{
    const struct json *spec = json_get(object, "spec");
    int64_t workers = training_pytorch_replicas(spec, TRAINING_WORKER, -1);

    int result = validate_nproc(spec, err);
    if (result == 0)
        result = validate_elastic(spec, workers, err);
    if (result == 0 && !training_job_has_started(object))
        result = validate_counts(spec, workers, err);
    return result;
}
