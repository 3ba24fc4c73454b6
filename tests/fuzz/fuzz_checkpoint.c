/* Fuzzes the reader of checkpoints. The input is a file without its checksum. The harness adds the
 * checksum, so that the code behind that check is reached. */
#include "base/mem.h"
#include "train/run/checkpoint.h"

#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_free_ char *file = mem_alloc(size + 4);
    if (size)
        memcpy(file, data, size);
    uint32_t crc = (uint32_t)crc32_z(crc32(0, NULL, 0), (const Bytef *)file, size);
    memcpy(file + size, &crc, sizeof(crc));
    struct checkpoint *checkpoint = NULL;
    struct err err = ERR_INIT;
    if (checkpoint_parse("fuzz", file, size + 4, &checkpoint, &err) < 0)
        return 0;
    struct params *params = params_new();
    params_declare(params, "a.bias", (int[]){2, 1, 1, 1}, PARAM_ZERO, 0);
    if (params_allocate(params, &err) == 0)
        (void)checkpoint_restore(checkpoint, "fuzz", params, NULL, &err);
    params_free(params);
    checkpoint_free(checkpoint);
    return 0;
}
