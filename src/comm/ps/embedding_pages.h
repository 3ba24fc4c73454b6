/* Maps zeroed memory for tables with mmap(). A mapping of at least 2 MiB is aligned to huge pages,
 * and the kernel is asked for huge pages, because random accesses to gigabytes of small pages often
 * miss the TLB. Called by embedding_table and embedding_index only. */
#ifndef TRAINYARD_COMM_PS_EMBEDDING_PAGES_H
#define TRAINYARD_COMM_PS_EMBEDDING_PAGES_H

#include <stddef.h>

enum { EMBEDDING_HUGE_PAGE = 2 << 20 };

/* Returns memory of `size` bytes, which the caller unmaps with embedding_pages_unmap(). Aborts the
 * process if memory is exhausted. */
void *embedding_pages_map(size_t size) __attribute__((returns_nonnull));
/* `pages` may be NULL. `size` must be the size that embedding_pages_map() got. */
void embedding_pages_unmap(void *pages, size_t size);

#endif
