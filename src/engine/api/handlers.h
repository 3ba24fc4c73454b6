/* The handlers of the API, one file per verb or subresource (prepare.c has create and update,
 * delete.c has both deletions), and the hooks that the API gives to the registry. engine/dispatch.c
 * calls a handler after it has authorized the request. Each handler sends the response itself, also
 * for an error, at once or in a later turn of the loop. */
#ifndef TRAINYARD_ENGINE_API_HANDLERS_H
#define TRAINYARD_ENGINE_API_HANDLERS_H

#include "engine/api/call.h"

void api_handle_get(struct api_call *call);
void api_handle_list(struct api_call *call);
void api_handle_create(struct api_call *call);
void api_handle_update(struct api_call *call);
void api_handle_patch(struct api_call *call);
void api_handle_apply(struct api_call *call); /* called by api_handle_patch() */
void api_handle_delete(struct api_call *call);
void api_handle_delete_collection(struct api_call *call);
void api_handle_review(struct api_call *call);
void api_handle_bind(struct api_call *call);
void api_handle_evict(struct api_call *call);
void api_handle_log(struct api_call *call);
void api_handle_scale(struct api_call *call);
void api_handle_token(struct api_call *call);
void api_handle_metrics(struct api_call *call);

/* Responds with the log of a pod without waiting for its container. */
void api_log_respond(struct api_call *call, const struct json *pod,
                     const struct engine_pod_logs *options);
/* Responds with the log of a pod as soon as its container runs, or with the reason why the
 * container does not run. Returns at once. */
void api_log_follow(struct api_call *call, const struct json *pod,
                    const struct engine_pod_logs *options);

/* ---- access.c */

/* Returns whether the roles allow the request. If not, also sends the response. */
bool api_is_allowed(struct api_call *call);
/* Checks a request for a path that is not a resource. Returns -ERR_FORBIDDEN if the roles do not
 * allow it. */
int api_check_path(struct engine *engine, struct arena *arena, const struct identity *identity,
                   const struct http_request *request, struct err *err);

/* ---- Hooks of the registry */

/* The `admit` hook of roles: returns -ERR_FORBIDDEN if the write changes the permissions of the
 * role and the role then has permissions that the writer does not have, unless the roles allow the
 * writer the verb "escalate". */
int api_admit_role(struct api_call *call, struct json *role, const struct json *old,
                   struct err *err);
/* The `admit` hook of bindings: returns -ERR_FORBIDDEN if the write changes the subjects and the
 * binding grants a role with permissions that the writer does not have, unless the roles allow the
 * writer the verb "bind". Returns -ERR_NOT_FOUND if the hook must check a role that does not exist.
 */
int api_admit_binding(struct api_call *call, struct json *binding, const struct json *old,
                      struct err *err);
/* The `admit` hook of CustomResourceDefinitions: sets the status of a definition, and warns the
 * client about parts of the definition that have no effect on this server. */
int api_admit_definition(struct api_call *call, struct json *definition, const struct json *old,
                         struct err *err);

#endif
