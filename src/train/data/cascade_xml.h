/* Parses the subset of XML that cascade_read.c needs: elements, numbers and words, in the order of
 * the file. Attributes are skipped. Every function returns a negative code and sets reader->err if
 * the text ends early or is not as expected. */
#ifndef TRAINYARD_TRAIN_DATA_CASCADE_XML_H
#define TRAINYARD_TRAIN_DATA_CASCADE_XML_H

#include "base/err.h"

#include <stdbool.h>

enum { CASCADE_XML_NAME_MAX = 32 };

struct cascade_xml {
    const char *at, *end;
    struct err *err;
};

int cascade_xml_refuse(struct cascade_xml *reader, const char *what);

/* Reads the next tag. Returns 1 and the name if it opens an element, or 0 if it closes the
 * enclosing element. */
int cascade_xml_next_element(struct cascade_xml *reader, char name[CASCADE_XML_NAME_MAX]);
/* Skips the rest of an element. The caller passes a depth of 0. */
int cascade_xml_pass_element(struct cascade_xml *reader, int depth);

/* Returns 1 and the number, or 0 if the element closes. */
int cascade_xml_next_number(struct cascade_xml *reader, double *ret);
/* Reads all numbers of an element and returns how many it has read. More than `max` numbers are an
 * error. */
int cascade_xml_numbers(struct cascade_xml *reader, double *ret, int max);
/* Reads one number from `min` to `max`. */
int cascade_xml_number(struct cascade_xml *reader, double min, double max, double *ret);
int cascade_xml_word(struct cascade_xml *reader, char text[CASCADE_XML_NAME_MAX]);

#endif
