/* The two checksums of a row of the database. The head checksum covers revision, key, created and
 * deleted. The row checksum covers the head checksum and the data, so it alone proves that a row is
 * intact. The head has its own checksum because the data is nearly all of a row: a row with damaged
 * data still proves which object it belongs to and whether that object was deleted.
 *
 * SipHash-1-3 with a fixed key, 64 bits each. docs/design/store.md gives the reasons. The values
 * are part of the file format and must never change. */
#ifndef TRAINYARD_STORE_STORE_CHECKSUM_H
#define TRAINYARD_STORE_STORE_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t store_checksum_head(int64_t revision, const char *key, size_t key_size, int64_t created,
                             bool deleted);
uint64_t store_checksum_row(uint64_t head, const void *data, size_t size);

/* Whether data without a checksum is plausible: the API server writes only JSON objects. */
bool store_checksum_is_plausible(const void *data, size_t size);

/* Like store_checksum_row(), for data that had no checksum until now. Data that is not plausible
 * gets a checksum that does not match. */
uint64_t store_checksum_adopt(uint64_t head, const void *data, size_t size);

#endif
