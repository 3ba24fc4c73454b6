/* The handlers of the API, one file per verb, and the API's hooks for the registry.
 * engine/dispatch.c calls a handler after it has authorized the request. Each handler sends the
 * response, also for errors. */
#ifndef TRAINYARD_ENGINE_API_HANDLERS_H
#define TRAINYARD_ENGINE_API_HANDLERS_H

#include "engine/api/call.h"

void api_handle_get(struct api_call *call);
void api_handle_list(struct api_call *call);
void api_handle_create(struct api_call *call);
void api_handle_update(struct api_call *call);
void api_handle_patch(struct api_call *call);
void api_handle_apply(struct api_call *call);
void api_handle_delete(struct api_call *call);
void api_handle_delete_collection(struct api_call *call);
void api_handle_review(struct api_call *call);
void api_handle_bind(struct api_call *call);
void api_handle_evict(struct api_call *call);
void api_handle_log(struct api_call *call);
void api_handle_scale(struct api_call *call);
void api_handle_token(struct api_call *call);
void api_handle_metrics(struct api_call *call);

/* Responds with the log of a pod at once. */
void api_log_respond(struct api_call *call, const struct json *pod,
                     const struct engine_pod_logs *options);
/* Responds with the log of a pod as soon as its container runs, or with the reason why it does
 * not run. */
void api_log_follow(struct api_call *call, const struct json *pod,
                    const struct engine_pod_logs *options);

/* ---- access.c */

/* Returns false if the roles do not allow the request. In this case it has sent the response. */
bool api_is_allowed(struct api_call *call);
/* Checks a request for a path that is not a resource. Returns -ERR_FORBIDDEN if the roles do not
 * allow it. */
int api_check_path(struct engine *engine, struct arena *arena, const struct identity *identity,
                   const struct http_request *request, struct err *err);

/* ---- Hooks of the registry */

/* Reject a role or binding that grants permissions that its writer does not have. */
int api_admit_role(struct api_call *call, struct json *role, const struct json *old,
                   struct err *err);
int api_admit_binding(struct api_call *call, struct json *binding, const struct json *old,
                      struct err *err);
/* Sets the accepted names and the conditions of a definition, and warns the client about parts
 * of the definition that have no effect on this server. */
int api_admit_definition(struct api_call *call, struct json *definition, const struct json *old,
                         struct err *err);

#endif
