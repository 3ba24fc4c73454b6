/* Decodes and encodes PNG with the simplified interface of libpng. */
#include "train/data/picture_internal.h"

#include <png.h>
#include <stdbool.h>

static int refuse_png(png_image *image, struct err *err)
{
    int result =
        err_set(err, ERR_BAD_REQUEST, "this PNG picture cannot be read: %s", image->message);
    png_image_free(image);
    return result;
}

int picture_decode_png(const uint8_t *data, size_t size, struct picture *ret, struct err *err)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&image, data, size))
        return refuse_png(&image, err);
    bool colour = image.format & PNG_FORMAT_FLAG_COLOR;
    image.format = colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    int result = picture_allocate(ret, image.width, image.height, colour ? 3 : 1, err);
    if (result < 0) {
        png_image_free(&image);
        return result;
    }
    const png_color white = {255, 255, 255};
    if (!png_image_finish_read(&image, &white, ret->pixels, 0, NULL))
        return refuse_png(&image, err);
    png_image_free(&image);
    return 0;
}

int picture_encode_png(const uint8_t *pixels, size_t width, size_t height, size_t channels,
                       struct buf *buf, struct err *err)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY};
    png_alloc_size_t size = 0;
    if (!png_image_write_get_memory_size(image, size, 0, pixels, 0, NULL))
        return err_set(err, ERR_INTERNAL, "cannot write a PNG: %s", image.message);
    char *room = buf_reserve(buf, size);
    if (!room)
        return err_set(err, ERR_TOO_LARGE, "cannot write a PNG: its %zu bytes exceed the limit",
                       (size_t)size);
    if (!png_image_write_to_memory(&image, room, &size, 0, pixels, 0, NULL))
        return err_set(err, ERR_INTERNAL, "cannot write a PNG: %s", image.message);
    buf_commit(buf, size);
    return 0;
}
