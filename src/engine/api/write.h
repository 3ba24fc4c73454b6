/* Functions for requests that write an object: they read the options and the body, check the
 * object, and store it. The response to a write is sent when the object is on disk. */
#ifndef TRAINYARD_ENGINE_API_WRITE_H
#define TRAINYARD_ENGINE_API_WRITE_H

#include "base/buf.h"
#include "engine/api/call.h"
#include "kube/patch/managed_fields.h"

/* ---- options.c: the options of the query */

/* Checks the options that the request's verb has, and sets call->dry_run. Returns -ERR_INVALID if
 * an option is invalid. */
int api_read_options(struct api_call *call, struct err *err);
/* Returns -ERR_INVALID with a message that lists call->invalid as errors of the options. */
int api_reject_options(struct api_call *call, struct err *err);

/* ---- body.c */

/* Reserves memory for the body and its JSON tree, in which each value takes one struct json.
 * Reserves nothing for a small body. Returns -ERR_TOO_MANY if the server has not enough memory
 * left. */
int api_reserve_body(struct api_call *call, struct err *err);
/* Reads the body as an object of the route's kind and converts it into the stored version. Sets
 * apiVersion and kind. */
int api_read_body(struct api_call *call, struct json **ret, struct err *err);
/* Reads the body as an object of any kind. Errors name `kind`. Sets *ret to NULL if the request has
 * no body. */
int api_read_body_as(struct api_call *call, const char *kind, struct json **ret, struct err *err);
/* Reads the body as one object in YAML or JSON and ignores the Content-Type. Adds duplicate fields
 * to call->duplicates. */
int api_parse_yaml(struct api_call *call, struct json **ret, struct err *err);
/* Reads the body as any JSON value. Returns -ERR_BAD_REQUEST with the message of Go's decoder if it
 * is not JSON. Adds duplicate fields to call->duplicates. */
int api_read_json(struct api_call *call, struct json **ret, struct err *err);
/* Returns "converting (v1.Secret) to (core.ConfigMap): unknown conversion". */
char *api_no_conversion_text(struct api_call *call, const char *kind, const char *api_version);

/* ---- prepare.c */

/* Turns `object`, which a client wants to create, into the object that is stored: sets metadata and
 * defaults, and validates it. */
int api_prepare_create(struct api_call *call, struct json *object, struct err *err);
/* The two halves of api_prepare_create(). api_prepare_create_local() uses only the object and the
 * request; it may run on a pool thread if the resource has no `assign` hook.
 * api_prepare_create_stored() also uses the store and the engine. */
int api_prepare_create_local(struct api_call *call, struct json *object, struct err *err);
int api_prepare_create_stored(struct api_call *call, struct json *object, struct err *err);

/* Turns `object`, which a client sent to replace `old`, into the object that is stored: keeps the
 * metadata that only the server may set, sets defaults, and validates it. */
int api_prepare_update(struct api_call *call, struct json *object, const struct json *old,
                       struct err *err);
/* The two halves of api_prepare_update(). See the two halves of api_prepare_create(). */
int api_prepare_update_local(struct api_call *call, struct json *object, const struct json *old,
                             struct err *err);
int api_prepare_update_stored(struct api_call *call, struct json *object, const struct json *old,
                              struct err *err);

/* Checks that the name and the namespace of `object` match the path, and that its uid and
 * resourceVersion, if set, match `old`. Sets a missing namespace. Returns -ERR_BAD_REQUEST if
 * the name is missing or the name or namespace differs, and -ERR_CONFLICT if the uid or the
 * resourceVersion differs (for the uid in a patch, -ERR_INVALID). */
int api_check_identity(struct api_call *call, struct json *object, const struct json *old,
                       struct err *err);

/* ---- write.c */

/* Checks the object with stored_check(), once per request. */
int api_measure(struct api_call *call, const struct json *object, struct err *err);

/* Sets the resourceVersion of the object, stores the object in place of revision `expected` (0:
 * a new object) and responds with it when it is on disk. Also sends the response if there is an
 * error. If meta_is_finished(object) and `old` is not NULL, removes the object instead. Writes
 * nothing on a dry run, or if the object equals `old` and `old` is on disk. `old` is the stored
 * object, or NULL for a new object. */
void api_commit(struct api_call *call, struct json *object, const struct json *old,
                int64_t expected, int success_status);
/* Like api_commit(), but responds with `answer` (NULL: the object) and never removes the object. */
void api_commit_answer(struct api_call *call, struct json *object, int64_t expected,
                       int success_status, const struct json *answer);
/* Removes the object and responds with a Status "Success" that names it. */
void api_commit_removal(struct api_call *call, struct json *object, int64_t expected);

/* Queue a write or a removal of the object, for a caller that sends the response itself. The object
 * must be of the route's resource. `done` is not called if the function returns an error. */
int api_queue_put(struct api_call *call, struct json *object, int64_t expected, store_done *done,
                  void *context, struct err *err);
int api_queue_removal(struct api_call *call, struct json *object, int64_t expected,
                      store_done *done, void *context, struct err *err);

/* The bytes of an object with a gap for the resourceVersion, which is not known yet. */
struct api_encoded {
    struct buf data;
    size_t gap_at, gap_size; /* the gap is longer than any revision */
};
int api_encode(struct api_call *call, struct json *object, struct api_encoded *ret,
               struct err *err);
/* Like api_commit_answer() without an answer, but stores the bytes of `encoded`. Writes the
 * resourceVersion into them. */
void api_commit_encoded(struct api_call *call, const struct json *object,
                        struct api_encoded *encoded, int64_t expected, int success_status);

/* ---- large.c: large bodies */

/* Handle a request with a large body, partly on a pool thread. Return false if the body is
 * small, if the resource has hooks that need the loop thread, or, for an update, if the request
 * is for a subresource or the object does not exist or cannot be read. Then the caller must
 * handle the request. */
bool api_create_large(struct api_call *call);
bool api_update_large(struct api_call *call);

/* ---- patch.c */

/* Sets *ret to `present` with the request's patch applied, and sets call->patched. `type` is passed
 * to kube_patch_apply(). */
int api_patch_object(struct api_call *call, const struct json *present,
                     const struct schema_object *type, struct json **ret, struct err *err);

/* ---- patch_refusal.c */

/* Returns the error for a patched object that is not a valid object of its kind. */
int api_reject_patch(struct api_call *call, const struct json *object, const char *why,
                     struct err *err);

/* ---- managed_fields.c: which client owns which field */

/* Checks the query parameters `fieldManager` and `force`. Returns -ERR_INVALID if one is invalid,
 * or if an apply has no field manager. */
int api_check_field_manager(struct api_call *call, bool applies, struct err *err);
struct managed_write api_managed_write(struct api_call *call);
/* Sets the managedFields of `object`. Must be called once per write, after the defaults are set.
 * `old` is NULL for a new object. */
int api_track_fields(struct api_call *call, struct json *object, const struct json *old,
                     struct err *err);

/* ---- apply.c */
bool api_is_apply(const struct api_call *call);
/* Responds to an apply with the conflicts that made it fail. */
struct apply_conflicts;
void api_respond_conflicts(struct api_call *call, const struct err *err,
                           const struct apply_conflicts *conflicts);

/* ---- delete.c */

/* Returns -ERR_CONFLICT if the object does not match the preconditions of the options. */
struct deletion_options;
int api_check_preconditions(struct api_call *call, const struct json *object,
                            const struct deletion_options *options, struct err *err);

#endif
