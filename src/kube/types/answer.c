/* Types of answers other than objects: lists, and the status of a request. See
 * kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(LIST_META, META "ListMeta", "what holds for a list as a whole",
    TEXT(1, "selfLink", "an address that is no longer filled in"),
    TEXT(2, "resourceVersion", "the state of the cluster that the list shows; watch from here"),
    TEXT(3, "continue", "the token that returns the next part of a list with a limit"),
    INT64(4, "remainingItemCount", "how many more there are behind a list that was cut", IF_SET));

TYPE(TYPE_LIST, NULL, "a list of objects of one kind",
    KIND_ROWS,
    STRUCT(1, "metadata", LIST_META, "what holds for the list as a whole"),
    LIST_OF(2, "items", TYPE_ANYTHING, "the objects", REQUIRED, ALWAYS));

LOCAL_TYPE(STATUS_CAUSE, META "StatusCause", "one thing that is wrong with a request",
    TEXT(1, "reason", "the error as one word, for programs"),
    TEXT(2, "message", "the error as a sentence, for people"),
    TEXT(3, "field", "the path of the field that is to blame"));

LOCAL_TYPE(STATUS_DETAILS, META "StatusDetails", "what a status is about",
    TEXT(1, "name", "the name of the object"),
    TEXT(2, "group", "the group of its resource"),
    TEXT(3, "kind", "its kind or resource"),
    TEXT(6, "uid", "the identity of the object"),
    LIST(4, "causes", STATUS_CAUSE, "each thing that is wrong"),
    INT32(5, "retryAfterSeconds", "how long to wait before the request is tried again"));

TYPE(TYPE_STATUS, META "Status", "how a request went that is not answered with an object",
    KIND_ROWS,
    STRUCT(1, "metadata", LIST_META, "what holds for the answer as a whole"),
    TEXT(2, "status", "Success or Failure"),
    TEXT(3, "message", "what happened, as a sentence for people"),
    TEXT(4, "reason", "why it failed, as one word for programs"),
    OBJECT(5, "details", STATUS_DETAILS, "the object that the status is about"),
    INT32(6, "code", "the HTTP status"));
