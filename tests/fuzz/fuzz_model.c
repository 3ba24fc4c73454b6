/* Fuzzes model files with a correct checksum and a senseless header. The input is the header. The
 * harness adds the values that it asks for, up to a limit, and the checksum. So shapes of any size
 * and sign reach the code that builds a model. */
#include "base/buf.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "models/classifier/model.h"
#include "models/face/model.h"
#include "models/recommender/model.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

enum { FLOATS_MAX = 1 << 19, HEAD = 16, ALIGN = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writes a file in the layout of checkpoint.c. */
static void make_file(const uint8_t *header, size_t size, struct buf *file)
{
    static const char zeros[ALIGN];
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *parsed = NULL;
    int64_t floats = json_parse(arena, (const char *)header, size, NULL, &parsed, NULL) == 0
                         ? json_get_int(parsed, "floats", 0)
                         : 0;
    uint32_t numbers[] = {1, (uint32_t)size};
    buf_append(file, "TYMODEL\n", 8);
    buf_append(file, numbers, sizeof(numbers));
    buf_append(file, header, size);
    buf_append(file, zeros, (ALIGN - (HEAD + size) % ALIGN) % ALIGN);
    for (int64_t i = 0; i < floats && floats <= FLOATS_MAX; i++)
        buf_append(file, zeros, sizeof(float));
    uint32_t crc = (uint32_t)crc32_z(crc32(0, NULL, 0), (const Bytef *)file->data, file->size);
    buf_append(file, &crc, sizeof(crc));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_buf_ struct buf file;
    buf_init(&file, 1 << 24);
    if (size > 1 << 16)
        return 0;
    make_file(data, size, &file);
    _cleanup_fd_ int fd = memfd_create("model", MFD_CLOEXEC);
    if (fd < 0 || write(fd, file.data, file.size) != (ssize_t)file.size)
        mem_panic("fuzz: no file to load");
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    struct face_model *face = NULL;
    struct classifier_model *classifier = NULL;
    struct recommender_model *recommender = NULL;
    (void)face_model_load(path, &face, NULL);
    (void)classifier_model_load(path, &classifier, NULL);
    (void)recommender_model_load(path, &recommender, NULL);
    face_model_free(face);
    classifier_model_free(classifier);
    recommender_model_free(recommender);
    return 0;
}
