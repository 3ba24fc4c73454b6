/* Types of answers other than objects: lists, and the status of a request. See
 * kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(LIST_META, META "ListMeta", "metadata of a list or a status",
    TEXT(1, "selfLink", "deprecated: always empty"),
    TEXT(2, "resourceVersion", "the resource version of the list; a watch can start from it"),
    TEXT(3, "continue", "the token that returns the next page of the list"),
    INT64(4, "remainingItemCount", "the number of objects on the pages that follow", IF_SET));

TYPE(TYPE_LIST, NULL, "a list of objects of one kind",
    KIND_ROWS,
    STRUCT(1, "metadata", LIST_META, "the metadata of the list"),
    LIST_OF(2, "items", TYPE_ANYTHING, "the objects of the list", REQUIRED, ALWAYS));

LOCAL_TYPE(STATUS_CAUSE, META "StatusCause", "one cause of an error",
    TEXT(1, "reason", "the error as one word, for programs"),
    TEXT(2, "message", "the error as a sentence, for people"),
    TEXT(3, "field", "the path of the field that caused the error"));

LOCAL_TYPE(STATUS_DETAILS, META "StatusDetails", "details of an error",
    TEXT(1, "name", "the name of the object that the error is about"),
    TEXT(2, "group", "the API group of the object"),
    TEXT(3, "kind", "the kind or resource of the object"),
    TEXT(6, "uid", "the UID of the object"),
    LIST(4, "causes", STATUS_CAUSE, "the causes of the error"),
    INT32(5, "retryAfterSeconds", "seconds to wait before the request is retried"));

TYPE(TYPE_STATUS, META "Status", "the result of a request that does not return an object",
    KIND_ROWS,
    STRUCT(1, "metadata", LIST_META, "the metadata of the response"),
    TEXT(2, "status", "the result of the request: Success or Failure"),
    TEXT(3, "message", "the result as a sentence, for people"),
    TEXT(4, "reason", "the reason of a failure as one word, for programs"),
    OBJECT(5, "details", STATUS_DETAILS, "the object that the error is about, and the causes"),
    INT32(6, "code", "the HTTP status code"));
