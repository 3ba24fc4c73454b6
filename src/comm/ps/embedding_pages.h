/* Maps large memory for tables with mmap(): zeroed and aligned to huge pages. It also requests huge
 * pages, because a random access to gigabytes of small pages often misses the TLB. Called by
 * embedding_table and embedding_index only. */
#ifndef TRAINYARD_COMM_PS_EMBEDDING_PAGES_H
#define TRAINYARD_COMM_PS_EMBEDDING_PAGES_H

#include <stddef.h>

enum { EMBEDDING_HUGE_PAGE = 2 << 20 };

void *embedding_pages_map(size_t size) __attribute__((returns_nonnull));
void embedding_pages_unmap(void *pages, size_t size); /* NULL-safe; `size` as in
                                                       * embedding_pages_map() */

#endif
