/* Implements the parser of --monitor; see monitor_address.h. */
#include "train/run/monitor_address.h"

#include "base/str.h"

#include <string.h>

int monitor_address_parse(const char *text, char address[MONITOR_ADDRESS_MAX], int *ret_port,
                          struct err *err)
{
    int64_t port = -1;
    address[0] = '\0';
    /* YAML reads a plain `off` as false. */
    bool off = str_is_empty(text) || str_eq(text, "off") || str_eq(text, "false");
    const char *colon = off ? NULL : strrchr(text, ':'), *host = text;
    size_t size = colon ? (size_t)(colon - text) : 0;
    if (size > 1 && text[0] == '[' && colon[-1] == ']') {
        host++;
        size -= 2;
    }
    if ((!off && str_to_int64(colon ? colon + 1 : text, 0, 65535, &port, NULL) < 0) ||
        size >= MONITOR_ADDRESS_MAX)
        return err_set(err, ERR_USAGE,
                       "'%s' is not an address to listen on: write PORT, IP:PORT or off", text);
    if (size) {
        memcpy(address, host, size);
        address[size] = '\0';
    }
    if (str_eq(address, "localhost"))
        str_copy(address, MONITOR_ADDRESS_MAX, "127.0.0.1");
    *ret_port = (int)port;
    return 0;
}

int monitor_address_check(const char *text, struct err *err)
{
    char address[MONITOR_ADDRESS_MAX];
    int port;
    return monitor_address_parse(text, address, &port, err);
}
