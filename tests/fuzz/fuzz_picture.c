/* Fuzzes all image decoders through picture_decode(), as an upload does. A decoded picture is also
 * scaled. */
#include "train/data/picture.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err;
    _cleanup_(picture_release) struct picture picture = {0};
    float square[16 * 16 * 3];
    if (picture_decode(data, size, &picture, &err) == 0) {
        const struct picture_square squares[] = {picture_middle(&picture), {-3, 2.5, 9}};
        for (int i = 0; i < 2; i++)
            picture_cut(&picture, &squares[i], 16, 3, square);
    }
    return 0;
}
