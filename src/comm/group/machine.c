/* Which machine this is; see machine.h. */
#include "comm/group/machine.h"

int machine_id(char ret[MACHINE_ID_MAX], struct err *err)
{
    return boot_id(ret, err);
}
