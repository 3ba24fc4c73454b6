/* POST selfsubjectaccessreviews: `kubectl auth can-i`. Who has the token may do everything. */
#include "engine/rest.h"

void rest_review(struct rest *rest)
{
    struct err err = ERR_INIT;
    struct json *review;
    if (rest_read_body(rest, &review, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    struct json *status = json_object(rest->arena);
    json_set_bool(rest->arena, status, "allowed", true);
    json_set_string(rest->arena, status, "reason", "the holder of the token may do everything");
    json_set(rest->arena, review, "status", status);
    rest_respond_json(rest, 201, review);
}
