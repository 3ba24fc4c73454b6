/* Fuzzes the reader of parameter server snapshots. The input is a file without its checksum. The
 * harness adds the checksum, so that the code behind that check is reached. */
#include "base/mem.h"
#include "comm/ps/snapshot.h"
#include "comm/ps/wire.h"

#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct ps_snapshot_owner OWNER = {.shape = 1, .server = 0, .servers = 1};
    _cleanup_free_ uint8_t *file = mem_alloc(size + 4);
    if (size)
        memcpy(file, data, size);
    uint32_t crc = (uint32_t)crc32_z(crc32(0, NULL, 0), file, size);
    memcpy(file + size, &crc, sizeof(crc));
    struct ps_snapshot_info info;
    struct err err = ERR_INIT;
    _cleanup_(cleanup_ps_store) struct ps_store *store = ps_store_new(64 << 20);
    if (ps_snapshot_decode(file, size + 4, &OWNER, store, &info, &err) < 0)
        return 0;
    /* An accepted snapshot can be used. */
    uint64_t rows = 0;
    for (size_t i = 0; i < ps_store_table_count(store); i++) {
        float row[PS_DIMENSIONS_MAX];
        int64_t id = -1;
        embedding_table_pull(ps_store_table(store, i), &id, 1, row);
        rows += embedding_table_rows(ps_store_table(store, i));
    }
    if (rows > info.rows)
        mem_panic("fuzz: more rows than were told");
    return 0;
}
