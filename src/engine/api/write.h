/* The steps of a request that writes an object. The handlers call these functions to read the
 * options and the body, to check the object and to store it. The response to a write is sent when
 * the object is on disk. */
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
 * Reserves nothing for a body below 16 KiB. Returns -ERR_TOO_MANY if the server has not enough
 * memory left. */
int api_reserve_body(struct api_call *call, struct err *err);
/* Reads the body as an object of the route's kind and converts it into the version of the route's
 * resource. Sets apiVersion and kind. Returns -ERR_BAD_REQUEST if the request has no body, if the
 * body cannot be parsed, or if the body has an apiVersion or kind that does not match the path.
 * Returns -ERR_MEDIA_TYPE for an unknown Content-Type. */
int api_read_body(struct api_call *call, struct json **ret, struct err *err);
/* Reads the body as an object and does not check its kind. Errors name `kind` as the expected one.
 * Sets *ret to NULL if the request has no body. */
int api_read_body_as(struct api_call *call, const char *kind, struct json **ret, struct err *err);
/* Reads the body as one object in YAML or JSON and ignores the Content-Type. Adds a message for
 * each duplicate field to call->duplicates. Returns -ERR_BAD_REQUEST if the body is not one object.
 */
int api_parse_yaml(struct api_call *call, struct json **ret, struct err *err);
/* Reads the body as any JSON value. Returns -ERR_BAD_REQUEST with the message of Go's decoder if
 * the body is not JSON. Adds a message for each duplicate field to call->duplicates. */
int api_read_json(struct api_call *call, struct json **ret, struct err *err);
/* Returns "converting (v1.Secret) to (core.ConfigMap): unknown conversion". */
char *api_no_conversion_text(struct api_call *call, const char *kind, const char *api_version);

/* ---- prepare.c */

/* Turns `object`, which a client wants to create, into the object to store: sets metadata and
 * defaults, validates the object, and runs the `admit` hooks. */
int api_prepare_create(struct api_call *call, struct json *object, struct err *err);
/* The first half of api_prepare_create(). With call->is_off_loop, it does not use the store. A pool
 * thread may then call it if the resource has no `assign` hook. */
int api_prepare_create_local(struct api_call *call, struct json *object, struct err *err);
/* The second half of api_prepare_create(): the checks that need the store or the engine. */
int api_prepare_create_stored(struct api_call *call, struct json *object, struct err *err);

/* Turns `object`, which a client sent to replace `old`, into the object to store: keeps the
 * metadata that only the server may set, sets defaults, validates the object, and runs the `admit`
 * hooks. For a subresource, takes only the part of the subresource from `object` and all other
 * parts from `old`, sets no defaults, validates only custom resources, and runs the `status` hook
 * instead of the `admit` hooks. */
int api_prepare_update(struct api_call *call, struct json *object, const struct json *old,
                       struct err *err);
/* The two halves of api_prepare_update(). The same rules apply as for the halves of
 * api_prepare_create(). api_prepare_update_local() must run on the loop thread for a subresource.
 */
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

/* Returns the result of stored_check(). Once the check has passed for a request, returns 0 without
 * checking again. */
int api_measure(struct api_call *call, const struct json *object, struct err *err);

/* Queues a write of the object in place of revision `expected` (0: a new object) and returns at
 * once. Sets the resourceVersion of the object. Responds with the object when it is on disk, or
 * with the error if the write fails. `old` is the stored object, or NULL for a new object. If
 * meta_is_finished(object) and `old` is not NULL, removes the object instead. On a dry run, or if
 * the object equals `old` and `old` is on disk, writes nothing and responds at once. */
void api_commit(struct api_call *call, struct json *object, const struct json *old,
                int64_t expected, int success_status);
/* Like api_commit() with `old` NULL, but responds with `answer` (NULL: the object). */
void api_commit_answer(struct api_call *call, struct json *object, int64_t expected,
                       int success_status, const struct json *answer);
/* Queues the removal of the object and returns at once. Responds with a Status "Success" that names
 * the object when the removal is on disk, or with the error. On a dry run, responds at once. */
void api_commit_removal(struct api_call *call, struct json *object, int64_t expected);

/* Queues a write of the object, which must be of the route's resource, for a caller that sends the
 * response itself. Calls `done` on the loop thread when the write is on disk or has failed. If the
 * function returns an error, `done` is not called. */
int api_queue_put(struct api_call *call, struct json *object, int64_t expected, store_done *done,
                  void *context, struct err *err);
/* Like api_queue_put(), but removes the object. */
int api_queue_removal(struct api_call *call, struct json *object, int64_t expected,
                      store_done *done, void *context, struct err *err);

/* The bytes of an object with a gap for the resourceVersion, which is not known yet. */
struct api_encoded {
    struct buf data;
    size_t gap_at;   /* the offset of the gap in `data` */
    size_t gap_size; /* longer than any revision */
};
/* Encodes the object. May run on any thread. The caller releases ret->data, also after an error. */
int api_encode(struct api_call *call, struct json *object, struct api_encoded *ret,
               struct err *err);
/* Like api_commit_answer() with `answer` NULL, but stores the bytes of `encoded` and writes the
 * resourceVersion into their gap. `object` is the encoded object. Not for a dry run. */
void api_commit_encoded(struct api_call *call, const struct json *object,
                        struct api_encoded *encoded, int64_t expected, int success_status);

/* ---- large.c: large bodies */

/* Handles a create request with a large body, partly on a pool thread. Returns true at once and
 * responds later. Returns false if the body is small or the resource has hooks that need the loop
 * thread; then the caller must handle the request. */
bool api_create_large(struct api_call *call);
/* Like api_create_large(), but for an update. Also returns false if the request is for a
 * subresource, or if the object does not exist or cannot be read. */
bool api_update_large(struct api_call *call);

/* ---- patch.c */

/* Reads the patch of the request, sets *ret to a copy of `present` with the patch applied, and sets
 * call->patched to the patch. `type` is the type of `present` for a strategic patch, or NULL; see
 * kube_patch_apply(). */
int api_patch_object(struct api_call *call, const struct json *present,
                     const struct schema_object *type, struct json **ret, struct err *err);

/* ---- patch_refusal.c */

/* Returns -ERR_INVALID for a patched object that is not a valid object of its kind. `why` is the
 * reason. Also sets call->invalid and call->about_nothing. */
int api_reject_patch(struct api_call *call, const struct json *object, const char *why,
                     struct err *err);

/* ---- managed_fields.c: which client owns which field */

/* Checks the query parameters `fieldManager` and `force`. `applies`: the request is a server-side
 * apply. Returns -ERR_INVALID if a parameter is invalid, or if an apply has no field manager. */
int api_check_field_manager(struct api_call *call, bool applies, struct err *err);
/* Returns the request as a write of its field manager. */
struct managed_write api_managed_write(struct api_call *call);
/* Sets the managedFields of `object`. Must be called once per write, after the defaults are set.
 * `old` is NULL for a new object. */
int api_track_fields(struct api_call *call, struct json *object, const struct json *old,
                     struct err *err);

/* ---- apply.c */

/* Returns whether the Content-Type of the request is that of a server-side apply. */
bool api_is_apply(const struct api_call *call);
struct apply_conflicts;
/* Responds to an apply that failed because of conflicts. */
void api_respond_conflicts(struct api_call *call, const struct err *err,
                           const struct apply_conflicts *conflicts);

/* ---- delete.c */

struct deletion_options;
/* Returns -ERR_CONFLICT if the object does not match the preconditions of the options. */
int api_check_preconditions(struct api_call *call, const struct json *object,
                            const struct deletion_options *options, struct err *err);

#endif
