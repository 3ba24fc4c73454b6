/* Maps large memory for tables; see embedding_pages.h. */
#include "comm/ps/embedding_pages.h"

#include "base/mem.h"

#include <stdint.h>
#include <sys/mman.h>

static void *pages_map(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        mem_panic("out of memory: %zu bytes for an embedding table", size);
    return pages;
}

void *embedding_pages_map(size_t size)
{
    if (size < EMBEDDING_HUGE_PAGE)
        return pages_map(size);
    /* Maps one huge page more than needed, then unmaps the parts before and after the aligned
     * range. */
    size = (size + 4095) & ~(size_t)4095;
    size_t mapped = size + EMBEDDING_HUGE_PAGE;
    char *start = pages_map(mapped);
    size_t before = -(uintptr_t)start & (EMBEDDING_HUGE_PAGE - 1);
    size_t behind = mapped - before - size;
    if (before)
        munmap(start, before);
    if (behind)
        munmap(start + before + size, behind);
    /* A failure is ignored: accesses to the memory are only slower. */
    (void)madvise(start + before, size, MADV_HUGEPAGE);
    return start + before;
}

void embedding_pages_unmap(void *pages, size_t size)
{
    if (pages)
        munmap(pages, size);
}
