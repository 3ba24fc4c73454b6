/* Fuzzes the reader of IDX files. The input is the pictures, then the labels; its first two bytes
 * are the length of the first part. Every pixel and label of an accepted file is read. */
#include "train/data/idx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t images = (size_t)data[0] << 8 | data[1];
    data += 2, size -= 2;
    images = images < size ? images : size;
    struct idx *idx = NULL;
    if (idx_parse("fuzz", data, images, data + images, size - images, &idx, NULL) < 0)
        return 0;
    volatile uint8_t last = 0;
    for (size_t i = 0; i < idx->count * (size_t)idx->height * (size_t)idx->width; i++)
        last = idx->pixels[i];
    for (size_t i = 0; i < idx->count; i++) {
        last = idx->labels[i];
        if (last >= idx->classes)
            __builtin_trap();
    }
    idx_free(idx);
    return 0;
}
