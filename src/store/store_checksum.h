/* The two checksums of a row of the database. The head checksum covers the columns revision, key,
 * created and deleted. The row checksum covers the head checksum and the data, so it alone proves
 * that a row is intact. The data is the largest part of a row. If only the data is damaged, the
 * head checksum still proves to which object the row belongs and whether it is a deletion.
 *
 * Both checksums are 64-bit SipHash-1-3 values that are computed from fixed keys.
 * docs/design/store.md says why this hash was chosen. The checksums are part of the file format, so
 * their computation must never change. */
#ifndef TRAINYARD_STORE_STORE_CHECKSUM_H
#define TRAINYARD_STORE_STORE_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t store_checksum_head(int64_t revision, const char *key, size_t key_size, int64_t created,
                             bool deleted);
uint64_t store_checksum_row(uint64_t head, const void *data, size_t size);

/* Returns whether the data is a JSON object. The API server writes only JSON objects. So data that
 * has no checksum and is not a JSON object must be damaged. */
bool store_checksum_is_plausible(const void *data, size_t size);

/* Like store_checksum_row(), but for data that had no checksum before. If the data is not
 * plausible, returns a wrong checksum, so that the row counts as damaged. */
uint64_t store_checksum_adopt(uint64_t head, const void *data, size_t size);

#endif
