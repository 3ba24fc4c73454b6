/* Fuzzes the check of SQLite write-ahead logs. Each input is checked as it is, and again with
 * correct salts and checksums. In the second case no frame may be reported as bad. */
#include "store/store_wal.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct store_wal read_log(const uint8_t *data, size_t size)
{
    struct store_wal wal;
    store_wal_init(&wal, data);
    size_t frame_size = STORE_WAL_FRAME_HEADER + wal.page_size;
    for (size_t at = STORE_WAL_HEADER; size - at >= frame_size; at += frame_size)
        store_wal_add(&wal, data + at);
    if (wal.page_size > STORE_WAL_PAGE_MAX || wal.bad_frame > wal.frames ||
        wal.later_commits > wal.frames)
        abort();
    return wal;
}

static void put_sum(uint8_t *at, const uint32_t sum[2])
{
    const uint32_t words[] = {htobe32(sum[0]), htobe32(sum[1])};
    memcpy(at, words, sizeof(words));
}

static void mend(uint8_t *data, size_t size, const struct store_wal *wal)
{
    uint32_t sum[2] = {0}, page_size = htobe32((uint32_t)wal->page_size);
    static const uint8_t MAGIC[] = {0x37, 0x7f, 0x06};
    memcpy(data, MAGIC, sizeof(MAGIC));
    data[3] = (uint8_t)(0x82 | wal->big_endian);
    memcpy(data + 8, &page_size, sizeof(page_size));
    store_wal_sum(wal->big_endian, data, 24, sum);
    put_sum(data + 24, sum);
    size_t frame_size = STORE_WAL_FRAME_HEADER + wal->page_size;
    for (size_t at = STORE_WAL_HEADER; size - at >= frame_size; at += frame_size) {
        memcpy(data + at + 8, data + 16, 8);
        store_wal_sum(wal->big_endian, data + at, 8, sum);
        store_wal_sum(wal->big_endian, data + at + STORE_WAL_FRAME_HEADER, wal->page_size, sum);
        put_sum(data + at + 16, sum);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < STORE_WAL_HEADER)
        return 0;
    struct store_wal wal = read_log(data, size);
    uint8_t *mended = malloc(size);
    memcpy(mended, data, size);
    mend(mended, size, &wal);
    wal = read_log(mended, size);
    if (!wal.header_valid || store_wal_state(&wal) != STORE_WAL_WHOLE)
        abort();
    free(mended);
    return 0;
}
