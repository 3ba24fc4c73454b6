/* Implements the parser for a subset of XML; see cascade_xml.h. */
#include "train/data/cascade_xml.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16, NUMBER_MAX = 40 };

int cascade_xml_refuse(struct cascade_xml *reader, const char *what)
{
    return err_set(reader->err, ERR_BAD_REQUEST, "this file cannot be read as a cascade: %s", what);
}

/* ---- Elements */

static bool starts_with_mark(const struct cascade_xml *reader, const char *mark)
{
    size_t size = strlen(mark);
    return (size_t)(reader->end - reader->at) >= size && memcmp(reader->at, mark, size) == 0;
}

/* Skips the text up to the end of the next `mark`. */
static int skip_past(struct cascade_xml *reader, const char *mark)
{
    const char *found = memmem(reader->at, (size_t)(reader->end - reader->at), mark, strlen(mark));
    if (!found)
        return cascade_xml_refuse(reader, "it is cut off");
    reader->at = found + strlen(mark);
    return 0;
}

/* Skips white space, comments and <?…?>. */
static int skip_blank(struct cascade_xml *reader)
{
    for (;;) {
        while (reader->at < reader->end && isspace((unsigned char)*reader->at))
            reader->at++;
        int result = 0;
        if (starts_with_mark(reader, "<!--"))
            result = skip_past(reader, "-->");
        else if (starts_with_mark(reader, "<?"))
            result = skip_past(reader, "?>");
        else
            return 0;
        if (result < 0)
            return result;
    }
}

int cascade_xml_next_element(struct cascade_xml *reader, char name[CASCADE_XML_NAME_MAX])
{
    int result = skip_blank(reader);
    if (result < 0)
        return result;
    if (starts_with_mark(reader, "</"))
        return skip_past(reader, ">") < 0 ? -ERR_BAD_REQUEST : 0;
    if (!starts_with_mark(reader, "<"))
        return cascade_xml_refuse(reader, reader->at < reader->end
                                              ? "it has text where an element should be"
                                              : "it is cut off");
    size_t size = 0;
    for (reader->at++; reader->at < reader->end && (isalnum((unsigned char)*reader->at) ||
                                                    *reader->at == '_' || *reader->at == '-');
         reader->at++) {
        if (size + 1 == CASCADE_XML_NAME_MAX)
            return cascade_xml_refuse(reader, "the name of an element is too long");
        name[size++] = *reader->at;
    }
    name[size] = '\0';
    result = skip_past(reader, ">");
    if (result == 0 && (size == 0 || reader->at[-2] == '/'))
        result = cascade_xml_refuse(reader, "an element has no name or no content");
    return result < 0 ? result : 1;
}

int cascade_xml_skip_element(struct cascade_xml *reader, int depth)
{
    char name[CASCADE_XML_NAME_MAX];
    if (depth > DEPTH_MAX)
        return cascade_xml_refuse(reader, "its elements are nested too deeply");
    for (;;) {
        while (reader->at < reader->end && *reader->at != '<')
            reader->at++;
        int result = cascade_xml_next_element(reader, name);
        if (result <= 0)
            return result;
        result = cascade_xml_skip_element(reader, depth + 1);
        if (result < 0)
            return result;
    }
}

/* ---- Text */

int cascade_xml_next_number(struct cascade_xml *reader, double *ret)
{
    char text[NUMBER_MAX], *rest;
    size_t size = 0;
    int result = skip_blank(reader);
    if (result < 0)
        return result;
    if (starts_with_mark(reader, "</"))
        return skip_past(reader, ">") < 0 ? -ERR_BAD_REQUEST : 0;
    for (; reader->at < reader->end && !isspace((unsigned char)*reader->at) && *reader->at != '<';
         reader->at++) {
        if (size + 1 == NUMBER_MAX)
            return cascade_xml_refuse(reader, "a number is too long");
        text[size++] = *reader->at;
    }
    text[size] = '\0';
    *ret = strtod(text, &rest);
    if (size == 0 || *rest || !isfinite(*ret) || fabs(*ret) > 1e12)
        return cascade_xml_refuse(reader, "a value is not a number, or is too large");
    return 1;
}

int cascade_xml_numbers(struct cascade_xml *reader, double *ret, int max)
{
    int count = 0, result;
    double value;
    while ((result = cascade_xml_next_number(reader, &value)) > 0) {
        if (count == max)
            return cascade_xml_refuse(reader, "an element has too many numbers");
        ret[count++] = value;
    }
    return result < 0 ? result : count;
}

int cascade_xml_number(struct cascade_xml *reader, double min, double max, double *ret)
{
    double value[1];
    int count = cascade_xml_numbers(reader, value, 1);
    if (count < 0)
        return count;
    if (count != 1 || value[0] < min || value[0] > max)
        return cascade_xml_refuse(reader, "a number is missing or out of bounds");
    *ret = value[0];
    return 0;
}

int cascade_xml_word(struct cascade_xml *reader, char text[CASCADE_XML_NAME_MAX])
{
    size_t size = 0;
    for (; reader->at < reader->end && *reader->at != '<'; reader->at++)
        if (!isspace((unsigned char)*reader->at)) {
            if (size + 1 == CASCADE_XML_NAME_MAX)
                return cascade_xml_refuse(reader, "the text of an element is too long");
            text[size++] = *reader->at;
        }
    text[size] = '\0';
    return skip_past(reader, ">");
}
