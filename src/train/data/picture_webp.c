/* Decodes WebP with libwebp. */
#include "train/data/picture_internal.h"

#include <webp/decode.h>

int picture_decode_webp(const uint8_t *data, size_t size, struct picture *ret, struct err *err)
{
    int width = 0, height = 0;
    if (!WebPGetInfo(data, size, &width, &height))
        return err_set(err, ERR_BAD_REQUEST, "this WebP picture has a broken header");
    int result = picture_allocate(ret, (size_t)width, (size_t)height, 3, err);
    if (result < 0)
        return result;
    if (!WebPDecodeRGBInto(data, size, ret->pixels, ret->width * ret->height * 3, width * 3))
        return err_set(err, ERR_BAD_REQUEST, "this WebP picture cannot be read");
    return 0;
}
