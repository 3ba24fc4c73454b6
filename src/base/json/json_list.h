/* The list of values inside an array or object, as the files that build trees keep it. Who reads a
 * tree goes through base/json/json.h. */
#ifndef TRAINYARD_BASE_JSON_LIST_H
#define TRAINYARD_BASE_JSON_LIST_H

#include "base/json/json.h"

/* Inline: parsers come here for each value of a document. */
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
