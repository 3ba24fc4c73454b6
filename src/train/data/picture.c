/* Implements detection, cropping and scaling of pictures; see picture.h. picture_pnm.c,
 * picture_png.c, picture_jpeg.c and picture_webp.c decode the formats. */
#include "train/data/picture.h"

#include "base/mem.h"
#include "base/system/file.h"
#include "train/data/picture_internal.h"

#include <math.h>
#include <string.h>

void picture_release(struct picture *picture)
{
    free(picture->pixels);
    *picture = (struct picture){0};
}

int picture_allocate(struct picture *picture, size_t width, size_t height, size_t channels,
                     struct err *err)
{
    if (width == 0 || height == 0)
        return err_set(err, ERR_BAD_REQUEST, "this picture is empty");
    if (width > PICTURE_SIDE_MAX || height > PICTURE_SIDE_MAX ||
        width * height > PICTURE_PIXELS_MAX)
        return err_set(err, ERR_TOO_LARGE,
                       "this picture is too large: %zu × %zu pixels; the limits are %d per side "
                       "and %d million in all",
                       width, height, PICTURE_SIDE_MAX, PICTURE_PIXELS_MAX >> 20);
    *picture = (struct picture){.width = width,
                                .height = height,
                                .channels = channels,
                                .pixels = mem_calloc(width * height, channels)};
    return 0;
}

static bool starts_with(const uint8_t *data, size_t size, const char *mark, size_t mark_size)
{
    return size >= mark_size && memcmp(data, mark, mark_size) == 0;
}

const char *picture_format_name(enum picture_format format)
{
    static const char *const NAMES[PICTURE_FORMATS] = {"unknown", "PGM or PPM", "PNG", "JPEG",
                                                       "WebP"};
    return NAMES[format];
}

enum picture_format picture_format(const void *bytes, size_t size)
{
    const uint8_t *data = bytes;
    if (starts_with(data, size, "\x89PNG", 4))
        return PICTURE_PNG;
    if (starts_with(data, size, "\xff\xd8\xff", 3))
        return PICTURE_JPEG;
    if (starts_with(data, size, "RIFF", 4) && size >= 12 && memcmp(data + 8, "WEBP", 4) == 0)
        return PICTURE_WEBP;
    if (size >= 2 && data[0] == 'P' && (data[1] == '5' || data[1] == '6'))
        return PICTURE_PNM;
    return PICTURE_UNKNOWN;
}

int picture_decode(const void *data, size_t size, struct picture *ret, struct err *err)
{
    typedef int decoder(const uint8_t *data, size_t size, struct picture *ret, struct err *err);
    static decoder *const DECODERS[PICTURE_FORMATS] = {
        [PICTURE_PNM] = picture_decode_pnm,
        [PICTURE_PNG] = picture_decode_png,
        [PICTURE_JPEG] = picture_decode_jpeg,
        [PICTURE_WEBP] = picture_decode_webp,
    };
    struct picture picture = {0};
    if (size > PICTURE_FILE_MAX)
        return err_set(err, ERR_TOO_LARGE,
                       "this file is too large for a picture: the limit is %d MiB",
                       PICTURE_FILE_MAX >> 20);
    decoder *decode = DECODERS[picture_format(data, size)];
    if (!decode)
        return err_set(
            err, ERR_MEDIA_TYPE,
            "this file is not a picture in a supported format (PNG, JPEG, WebP, PGM, PPM)");
    int result = decode(data, size, &picture, err);
    if (result < 0) {
        picture_release(&picture);
        return result;
    }
    *ret = picture;
    return 0;
}

int picture_read(const char *path, struct picture *ret, struct err *err)
{
    _cleanup_buf_ struct buf file;
    buf_init(&file, PICTURE_FILE_MAX);
    int result = file_read(path, &file, err);
    if (result < 0)
        return result;
    result = picture_decode(file.data, file.size, ret, err);
    return result < 0 ? err_wrap(err, "'%s'", path) : 0;
}

static struct picture_square centred_square(const struct picture *picture, size_t edge)
{
    return (struct picture_square){.x = ((double)picture->width - (double)edge) / 2,
                                   .y = ((double)picture->height - (double)edge) / 2,
                                   .side = (double)edge};
}

struct picture_square picture_middle(const struct picture *picture)
{
    return centred_square(picture,
                          picture->width < picture->height ? picture->width : picture->height);
}

struct picture_square picture_around(const struct picture *picture)
{
    return centred_square(picture,
                          picture->width > picture->height ? picture->width : picture->height);
}

static size_t clamp_place(double place, size_t limit)
{
    return place < 0 ? 0 : place > (double)(limit - 1) ? limit - 1 : (size_t)place;
}

/* Returns the mean of the source pixels in [x0, x1) × [y0, y1). A pixel at an edge of this area is
 * weighted by the fraction of it that lies inside. */
static double covered_mean(const struct picture *picture, size_t channel, double x0, double x1,
                           double y0, double y1)
{
    double sum = 0, weight = 0;
    for (long row_at = (long)floor(y0); (double)row_at < y1; row_at++) {
        double y = (double)row_at, height = fmin(y + 1, y1) - fmax(y, y0);
        const uint8_t *row =
            picture->pixels + clamp_place(y, picture->height) * picture->width * picture->channels;
        for (long at = (long)floor(x0); (double)at < x1; at++) {
            double x = (double)at, w = height * (fmin(x + 1, x1) - fmax(x, x0));
            sum += w * row[clamp_place(x, picture->width) * picture->channels + channel];
            weight += w;
        }
    }
    return weight > 0 ? sum / weight : 0;
}

/* Sets ret to one target pixel: three means for RGB, or one grey value. */
static void square_pixel(const struct picture *picture, double x0, double x1, double y0, double y1,
                         size_t channels, double *ret)
{
    double colour[3] = {0};
    for (size_t c = 0; c < picture->channels; c++)
        colour[c] = covered_mean(picture, c, x0, x1, y0, y1);
    if (picture->channels == 1)
        colour[1] = colour[2] = colour[0];
    if (channels == 1)
        ret[0] = picture->channels == 1 ? colour[0]
                                        : 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2];
    else
        memcpy(ret, colour, sizeof(colour));
}

typedef void put_pixel(void *target, size_t position, double value);

static void cut_square(const struct picture *picture, const struct picture_square *square,
                       size_t side, size_t channels, put_pixel *put, void *target)
{
    double step = square->side / (double)side;
    for (size_t y = 0; y < side; y++) {
        for (size_t x = 0; x < side; x++) {
            double value[3], left = square->x + (double)x * step,
                             top = square->y + (double)y * step;
            square_pixel(picture, left, square->x + (double)(x + 1) * step, top,
                         square->y + (double)(y + 1) * step, channels, value);
            for (size_t c = 0; c < channels; c++)
                put(target, (y * side + x) * channels + c, value[c]);
        }
    }
}

static void put_byte(void *target, size_t position, double value)
{
    ((uint8_t *)target)[position] = (uint8_t)(value + 0.5);
}

static void put_float(void *target, size_t position, double value)
{
    ((float *)target)[position] = (float)(value / 255);
}

void picture_cut_bytes(const struct picture *picture, const struct picture_square *square,
                       size_t side, size_t channels, uint8_t *ret_pixels)
{
    cut_square(picture, square, side, channels, put_byte, ret_pixels);
}

void picture_cut(const struct picture *picture, const struct picture_square *square, size_t side,
                 size_t channels, float *ret_pixels)
{
    cut_square(picture, square, side, channels, put_float, ret_pixels);
}
