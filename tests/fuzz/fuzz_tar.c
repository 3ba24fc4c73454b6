/* Fuzzes the reader of tar archives. Each input is read as it is, and again with correct checksums,
 * so that the code behind that check is reached. The names of an entry must end where their lengths
 * say. */
#include "node/image/tar_read.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t left;
};

static ssize_t read_input(void *context, void *data, size_t size, struct err *err)
{
    struct input *input = context;
    size = size < input->left ? size : input->left;
    if (size)
        memcpy(data, input->data, size);
    input->data += size;
    input->left -= size;
    return (ssize_t)size;
}

static void read_archive(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct tar_reader reader;
    struct tar_entry entry;
    struct err err = ERR_INIT;
    char part[300];
    tar_reader_init(&reader, (struct tar_source){.read = read_input, .context = &input});
    while (tar_read_next(&reader, &entry, &err) > 0) {
        if (!entry.path[0] || strlen(entry.path) > TAR_NAME_MAX ||
            strlen(entry.link) > TAR_NAME_MAX || entry.mode > 07777)
            abort();
        uint64_t got = 0;
        for (ssize_t more; (more = tar_read_data(&reader, part, sizeof(part), &err)) > 0;)
            got += (uint64_t)more;
        if (got > entry.size)
            abort();
    }
    tar_reader_release(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_archive(data, size);
    uint8_t *mended = malloc(size + 1);
    memcpy(mended, data, size);
    for (size_t at = 0; at + TAR_BLOCK <= size; at += TAR_BLOCK) {
        static const size_t CHECKSUM = 148;
        unsigned sum = 0;
        memset(mended + at + CHECKSUM, ' ', 8);
        for (size_t i = 0; i < TAR_BLOCK; i++)
            sum += mended[at + i];
        for (int i = 5; i >= 0; i--, sum >>= 3)
            mended[at + CHECKSUM + (size_t)i] = (uint8_t)('0' + (sum & 7));
        mended[at + CHECKSUM + 6] = '\0';
    }
    read_archive(mended, size);
    free(mended);
    return 0;
}
