/* Fuzzes container logs. The output of a container must become records with the same text, and a
 * log file of any content must be read without harm. */
#include "base/mem.h"
#include "node/log/container_log.h"
#include "node/log/read.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct node_log_writer writer;
    struct buf records, text;
    if (size > 256 * 1024)
        return 0;
    buf_init(&records, 64 * 1024 * 1024);
    buf_init(&text, 64 * 1024 * 1024);
    node_log_writer_init(&writer, "stdout");
    /* In two pieces, as a pipe may deliver it. */
    node_log_writer_add(&writer, 1, (const char *)data, size / 3, &records);
    node_log_writer_add(&writer, 2, (const char *)data + size / 3, size - size / 3, &records);
    node_log_writer_finish(&writer, 3, &records);
    if (node_log_render(records.data, records.size, false, 0, &text) != records.size ||
        text.size != size || memcmp(text.data, data, size) != 0)
        mem_panic("output came back as something else");
    buf_clear(&text);
    node_log_render((const char *)data, size, true, 0, &text);
    buf_release(&records);
    buf_release(&text);
    return 0;
}
