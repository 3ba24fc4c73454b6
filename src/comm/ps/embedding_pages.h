/* Large memory for tables, mapped from the kernel: zeroed, aligned to huge pages, and with huge
 * pages requested, because a lookup in gigabytes of small pages also costs a page table walk.
 * Called by embedding_table and embedding_index only. */
#ifndef TRAINYARD_COMM_PS_EMBEDDING_PAGES_H
#define TRAINYARD_COMM_PS_EMBEDDING_PAGES_H

#include <stddef.h>

enum { EMBEDDING_HUGE_PAGE = 2 << 20 };

void *embedding_pages_map(size_t size) __attribute__((returns_nonnull));
void embedding_pages_unmap(void *pages, size_t size); /* NULL-safe; the size it was mapped with */

#endif
