/* Which machine this is; see machine.h. */
#include "comm/machine.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/str.h"

int machine_id(char ret[MACHINE_ID_MAX], struct err *err)
{
    _cleanup_buf_ struct buf boot;
    buf_init(&boot, MACHINE_ID_MAX - 1);
    int result = file_read("/proc/sys/kernel/random/boot_id", &boot, err);
    if (result == 0)
        str_copy(ret, MACHINE_ID_MAX, boot.data);
    return result;
}
