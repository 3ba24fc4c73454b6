/* Parses the subset of XML that cascade_read.c needs: elements, numbers and words, in the order of
 * the file. Skips attributes. If the text ends early or is not as expected, a function sets
 * reader->err and returns a negative code. */
#ifndef TRAINYARD_TRAIN_DATA_CASCADE_XML_H
#define TRAINYARD_TRAIN_DATA_CASCADE_XML_H

#include "base/err.h"

#include <stdbool.h>

enum { CASCADE_XML_NAME_MAX = 32 };

struct cascade_xml {
    const char *at, *end; /* the text that is not read yet */
    struct err *err;
};

/* Sets the error "this file cannot be read as a cascade: WHAT" and returns its code. */
int cascade_xml_refuse(struct cascade_xml *reader, const char *what);

/* Reads the next tag. If it opens an element, sets `name` and returns 1. If it closes the enclosing
 * element, returns 0. Empty-element tags (<a/>) are an error. */
int cascade_xml_next_element(struct cascade_xml *reader, char name[CASCADE_XML_NAME_MAX]);
/* Skips the rest of an element, up to the end of its closing tag. Returns 0. The caller must pass 0
 * as `depth`. */
int cascade_xml_skip_element(struct cascade_xml *reader, int depth);

/* Reads the next number of an element. Returns 1, or 0 after the closing tag of the element. */
int cascade_xml_next_number(struct cascade_xml *reader, double *ret);
/* Reads all numbers of an element and its closing tag. Returns how many numbers the element has.
 * More than `max` numbers are an error. */
int cascade_xml_numbers(struct cascade_xml *reader, double *ret, int max);
/* Reads an element whose content is one number from `min` to `max`. Returns 0. */
int cascade_xml_number(struct cascade_xml *reader, double min, double max, double *ret);
/* Reads the text of an element, without white space, and its closing tag. Returns 0. */
int cascade_xml_word(struct cascade_xml *reader, char text[CASCADE_XML_NAME_MAX]);

#endif
