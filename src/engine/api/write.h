/* Requests that write an object: their options and body, the checks, and the one way into the
 * store. The response to a write is sent when the object is on disk. */
#ifndef TRAINYARD_ENGINE_API_WRITE_H
#define TRAINYARD_ENGINE_API_WRITE_H

#include "base/buf.h"
#include "engine/api/call.h"
#include "kube/patch/managed_fields.h"

/* ---- options.c: the options of the query */

/* Checks the options of the request's verb and sets call->dry_run. Returns -ERR_INVALID if one is
 * wrong. */
int api_read_options(struct api_call *call, struct err *err);
/* Returns -ERR_INVALID with the reasons in call->invalid, as if the options were an object. */
int api_reject_options(struct api_call *call, struct err *err);

/* ---- body.c */

/* Reserves memory for the tree of the body: a value of one byte takes 56 bytes in it. */
int api_reserve_body(struct api_call *call, struct err *err);
/* Reads the body as an object of the route's kind, in the stored version. Fills in apiVersion and
 * kind. */
int api_read_body(struct api_call *call, struct json **ret, struct err *err);
/* Reads the body as an object of any kind; `kind` is named in errors. `*ret` is NULL if the request
 * has no body. */
int api_read_body_as(struct api_call *call, const char *kind, struct json **ret, struct err *err);
/* Reads the body as one object in YAML or JSON, whatever its Content-Type is. Duplicate fields go
 * into call->duplicates. */
int api_parse_yaml(struct api_call *call, struct json **ret, struct err *err);
/* Reads the body as any JSON value. Returns -ERR_BAD_REQUEST with the message of Go's decoder.
 * Duplicate fields go into call->duplicates. */
int api_read_json(struct api_call *call, struct json **ret, struct err *err);
/* "converting (v1.Secret) to (core.ConfigMap): unknown conversion" */
char *api_no_conversion_text(struct api_call *call, const char *kind, const char *api_version);

/* ---- prepare.c */

/* Turns `object`, as a client wants to create it, into the object that is stored. */
int api_prepare_create(struct api_call *call, struct json *object, struct err *err);
/* The two halves of api_prepare_create(). The first uses only the object and the request; it may
 * run on a pool thread if the resource has no `assign` hook. The second asks the store and the
 * engine. */
int api_prepare_create_local(struct api_call *call, struct json *object, struct err *err);
int api_prepare_create_stored(struct api_call *call, struct json *object, struct err *err);

/* Turns `object`, as a client wants `old` to become, into the object that is stored: keeps the
 * metadata that only the server may set, sets defaults, and validates. */
int api_prepare_update(struct api_call *call, struct json *object, const struct json *old,
                       struct err *err);
/* The two halves of api_prepare_update(), like those of api_prepare_create(). */
int api_prepare_update_local(struct api_call *call, struct json *object, const struct json *old,
                             struct err *err);
int api_prepare_update_stored(struct api_call *call, struct json *object, const struct json *old,
                              struct err *err);

/* Checks that the name, namespace, uid and version that a client gives are those of `old`, and
 * fills in those that are missing. Returns -ERR_CONFLICT for another uid or version. */
int api_check_identity(struct api_call *call, struct json *object, const struct json *old,
                       struct err *err);

/* ---- write.c */

/* Checks the limits of a stored object, once per request. */
int api_measure(struct api_call *call, const struct json *object, struct err *err);

/* Gives the object its next revision, stores it in place of revision `expected` (0: a new object)
 * and responds with it once it is on disk. Responds with errors, too. An object that is marked as
 * deleted and has no finalizers left is removed instead. */
void api_commit(struct api_call *call, struct json *object, const struct json *old,
                int64_t expected, int success_status);
/* Like api_commit(), but responds with `answer` (NULL: the object) and never removes. */
void api_commit_answer(struct api_call *call, struct json *object, int64_t expected,
                       int success_status, const struct json *answer);
/* Removes the object and responds with a Status of success about it. */
void api_commit_removal(struct api_call *call, struct json *object, int64_t expected);

/* Encodes the object with its next revision and queues the write, for a caller that responds by
 * itself. The object must be of the route's resource. `done` is not called on failure. */
int api_queue_put(struct api_call *call, struct json *object, int64_t expected, store_done *done,
                  void *context, struct err *err);
int api_queue_removal(struct api_call *call, struct json *object, int64_t expected,
                      store_done *done, void *context, struct err *err);

/* The bytes of an object with a gap in place of its revision, which is not known yet. */
struct api_encoded {
    struct buf data;
    size_t gap_at, gap_size; /* the gap is longer than any revision */
};
int api_encode(struct api_call *call, struct json *object, struct api_encoded *ret,
               struct err *err);
/* Like api_commit_answer(), for an object whose bytes are `encoded`. Changes the bytes. */
void api_commit_encoded(struct api_call *call, const struct json *object,
                        struct api_encoded *encoded, int64_t expected, int success_status);

/* ---- large.c: bodies that take long to read */

/* Does as much as possible of the request on a pool thread. Returns false if the body is small, the
 * resource has hooks that need the loop thread, or there is nothing to update; the caller handles
 * the request then. */
bool api_create_large(struct api_call *call);
bool api_update_large(struct api_call *call);

/* ---- patch.c */

/* Returns `present` with the request's patch, and sets call->patched. `type` as kube_patch_apply()
 * wants it. */
int api_patch_object(struct api_call *call, const struct json *present,
                     const struct schema_object *type, struct json **ret, struct err *err);

/* ---- patch_refusal.c */

/* Returns -ERR_INVALID: the patched object is no object of its kind. */
int api_reject_patch(struct api_call *call, const struct json *object, const char *why,
                     struct err *err);

/* ---- managed_fields.c: which client owns which field */

/* Checks the query's options about the field manager. Returns -ERR_INVALID if one is wrong, or if
 * an apply names no manager. */
int api_check_field_manager(struct api_call *call, bool applies, struct err *err);
struct managed_write api_managed_write(struct api_call *call);
/* Sets managedFields of `object`, which a client sent and which has its defaults. `old` is NULL for
 * a new object. Must be called once per write. */
int api_track_fields(struct api_call *call, struct json *object, const struct json *old,
                     struct err *err);

/* ---- apply.c */
bool api_is_apply(const struct api_call *call);
/* Responds with the ERR_CONFLICT of an apply. */
struct apply_conflicts;
void api_respond_conflicts(struct api_call *call, const struct err *err,
                           const struct apply_conflicts *conflicts);

/* ---- delete.c */

/* Returns -ERR_CONFLICT if the object is not the one that the preconditions describe. */
struct deletion_options;
int api_check_preconditions(struct api_call *call, const struct json *object,
                            const struct deletion_options *options, struct err *err);

#endif
