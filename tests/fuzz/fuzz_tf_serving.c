/* Fuzzes the parser of predict requests. A request is either rejected with a message, or gives as
 * many pictures as it announced. */
#include "base/mem.h"
#include "serve/tf_serving.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { SAMPLE = 4, MAX = 16 };
    struct arena *arena = arena_new();
    struct err err = ERR_INIT;
    float *pixels = NULL, sum = 0;
    size_t count = 0;
    if (tf_serving_read(arena, (const char *)data, size, SAMPLE, MAX, &pixels, &count, &err) < 0) {
        if (err.message[0] == '\0' || pixels)
            mem_panic("refused without a word");
    } else {
        if (count == 0 || count > MAX)
            mem_panic("%zu pictures", count);
        for (size_t i = 0; i < count * SAMPLE; i++)
            sum += pixels[i]; /* every pixel must be readable */
    }
    (void)sum;
    free(pixels);
    arena_free(arena);
    return 0;
}
