/* Decodes PGM and PPM in binary form (P5, P6) with 8 bits per sample. */
#include "train/data/picture_internal.h"

#include <ctype.h>

/* Returns the next number of the header, after white space and comments, or -1 if there is none. */
static long next_number(const uint8_t *data, size_t size, size_t *at)
{
    while (*at < size && (isspace(data[*at]) || data[*at] == '#')) {
        if (data[*at] == '#')
            while (*at < size && data[*at] != '\n')
                (*at)++;
        else
            (*at)++;
    }
    long value = -1;
    for (; *at < size && isdigit(data[*at]) && value < 1000000; (*at)++)
        value = (value < 0 ? 0 : value) * 10 + (data[*at] - '0');
    return value;
}

int picture_decode_pnm(const uint8_t *data, size_t size, struct picture *ret, struct err *err)
{
    size_t at = 2, channels = data[1] == '6' ? 3 : 1;
    long width = next_number(data, size, &at), height = next_number(data, size, &at);
    long max = next_number(data, size, &at);
    if (width < 0 || height < 0 || max < 1 || at >= size || !isspace(data[at]))
        return err_set(err, ERR_BAD_REQUEST, "this PGM or PPM picture has a broken header");
    if (max > 255)
        return err_set(err, ERR_UNSUPPORTED, "this picture has more than 8 bits per sample");
    at++;
    int result = picture_allocate(ret, (size_t)width, (size_t)height, channels, err);
    if (result < 0)
        return result;
    size_t bytes = ret->width * ret->height * channels;
    if (size - at < bytes)
        return err_set(err, ERR_BAD_REQUEST, "this picture is truncated");
    for (size_t i = 0; i < bytes; i++) {
        unsigned sample = data[at + i] > max ? (unsigned)max : data[at + i];
        ret->pixels[i] = (uint8_t)(sample * 255 / (unsigned)max);
    }
    return 0;
}
