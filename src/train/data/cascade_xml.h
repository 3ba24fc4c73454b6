/* What cascade_read.c must know of XML: elements, numbers and words, read from the front to the
 * back. Attributes are passed over; nothing is copied but names and words. Every function returns
 * less than 0 with a sentence where the text ends early or has something else. */
#ifndef TRAINYARD_TRAIN_CASCADE_XML_H
#define TRAINYARD_TRAIN_CASCADE_XML_H

#include "base/err.h"

#include <stdbool.h>

enum { CASCADE_XML_NAME_MAX = 32 };

struct cascade_xml {
    const char *at, *end;
    struct err *err;
};

int cascade_xml_refuse(struct cascade_xml *reader, const char *what);

/* 1 and the name: an element opened; 0: the one around closes here. */
int cascade_xml_next_element(struct cascade_xml *reader, char name[CASCADE_XML_NAME_MAX]);
int cascade_xml_pass_element(struct cascade_xml *reader, int depth); /* the rest, from depth 0 on */

/* 1 and the number, 0 where the element closes. */
int cascade_xml_next_number(struct cascade_xml *reader, double *ret);
/* All numbers of an element, at most `max`; returns how many. */
int cascade_xml_numbers(struct cascade_xml *reader, double *ret, int max);
/* One number between two bounds. */
int cascade_xml_number(struct cascade_xml *reader, double min, double max, double *ret);
int cascade_xml_word(struct cascade_xml *reader, char text[CASCADE_XML_NAME_MAX]);

#endif
