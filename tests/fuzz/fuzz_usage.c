/* Fuzzes the parsers of the kernel's usage files. No memory usage may be below 0. */
#include "base/mem.h"
#include "node/limits/usage_read.h"
#include "node/process/table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = memcpy(mem_zalloc(size + 1), data, size);
    int64_t number;
    struct process_entry entry;
    struct machine_memory memory;
    (void)process_entry_parse(text, &entry);
    (void)usage_read_machine_time(text, &number);
    if (usage_read_process_memory(text, &number) && number < 0)
        mem_panic("a process with less than no memory");
    if (usage_read_machine_memory(text, &memory) && memory.working_set_bytes < 0)
        mem_panic("a machine with less than no memory");
    free(text);
    return 0;
}
