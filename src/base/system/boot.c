/* Reads the boot id of the machine; see boot.h. */
#include "base/system/boot.h"

#include "base/str.h"
#include "base/system/file.h"

#include <string.h>

int boot_id(char ret[BOOT_ID_MAX], struct err *err)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, BOOT_ID_MAX - 1);
    int result = file_read("/proc/sys/kernel/random/boot_id", &text, err);
    if (result < 0)
        return result;
    str_copy(ret, BOOT_ID_MAX, text.data);
    ret[strcspn(ret, "\n")] = '\0';
    return 0;
}
