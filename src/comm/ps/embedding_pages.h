/* Large memory for tables, from the kernel directly: zeroed, aligned to huge pages and asking for
 * them, because a lookup in gigabytes of small pages costs a walk of the page tables too. Called by
 * the embedding table only. */
#ifndef TRAINYARD_COMM_EMBEDDING_PAGES_H
#define TRAINYARD_COMM_EMBEDDING_PAGES_H

#include <stddef.h>

enum { EMBEDDING_HUGE_PAGE = 2 << 20 };

void *embedding_pages_map(size_t size) __attribute__((returns_nonnull));
void embedding_pages_unmap(void *pages, size_t size); /* NULL-safe; the size it was mapped with */

#endif
