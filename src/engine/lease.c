/* Leases: who leads, and until when. They are renewed all the time, so what is checked is little.
 */
#include "engine/kinds.h"

#include "base/mem.h"
#include "base/moment.h"

static void validate_time(struct field_errors *errors, const struct json *spec, const char *name)
{
    const struct json *value = json_get(spec, name);
    int64_t moment;
    struct err err = ERR_INIT;
    if (!value || value->type == JSON_NULL)
        return;
    if (value->type != JSON_STRING || moment_parse(json_text(value), &moment, &err) < 0)
        field_invalid(errors, field_path(errors, "spec.%s", name), value,
                      "must be a time like 2006-01-02T15:04:05.000000Z");
}

void kind_lease_validate(struct field_errors *errors, const struct json *lease,
                         const struct json *old)
{
    static const struct {
        const char *name;
        int64_t min;
        const char *complaint;
    } numbers[] = {
        {"leaseDurationSeconds", 1, "must be greater than 0"},
        {"leaseTransitions", 0, "must be greater than or equal to 0"},
    };
    const struct json *spec = json_get(lease, "spec");
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        const struct json *number = json_get(spec, numbers[i].name);
        if (!number || number->type == JSON_NULL)
            continue;
        if (number->type != JSON_INT || number->integer < numbers[i].min)
            field_invalid(errors, field_path(errors, "spec.%s", numbers[i].name), number, "%s",
                          numbers[i].complaint);
    }
    validate_time(errors, spec, "acquireTime");
    validate_time(errors, spec, "renewTime");
}
