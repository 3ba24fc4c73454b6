/* Appends values to the list inside an array or object. Only for code that builds trees. Code that
 * reads a tree uses base/json/json.h. */
#ifndef TRAINYARD_BASE_JSON_JSON_LIST_H
#define TRAINYARD_BASE_JSON_JSON_LIST_H

#include "base/json/json.h"

/* Appends the value to an array or object. The caller sets the name of a member. Inline, because
 * parsers call it for each value of a document. */
static inline void json_list_append(struct json *list, struct json *value)
{
    value->next = NULL;
    if (list->last)
        list->last->next = value;
    else
        list->first = value;
    list->last = value;
    list->count++;
}

#endif
