/* The checksums of a row of the database. `head` covers which change the row is: revision, key,
 * created and deleted. `whole` covers the head and the data, so it alone proves that a row is
 * intact. The head has a checksum of its own so that a row with damaged data, which is nearly all
 * of a row, still proves which object it belongs to and whether that object was deleted.
 *
 * SipHash-1-3 with a fixed key, 64 bits each. The reasons are in docs/design/store.md. The values
 * are part of the file format and must never change. */
#ifndef TRAINYARD_STORE_STORE_SEAL_H
#define TRAINYARD_STORE_STORE_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t store_checksum_head(int64_t revision, const char *key, size_t key_size, int64_t created,
                             bool deleted);
uint64_t store_checksum_row(uint64_t head, const void *data, size_t size);

/* Whether data without a checksum can be believed: the API server, whose values these are, writes
 * JSON objects only. */
bool store_checksum_is_plausible(const void *data, size_t size);

/* Like store_checksum_row(), for data that had no checksum until now. What cannot be believed gets
 * one that does not match. */
uint64_t store_checksum_adopt(uint64_t head, const void *data, size_t size);

#endif
