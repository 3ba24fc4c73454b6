/* Finds the process that holds a port; see network/port_holder.h. */
#include "node/network/port_holder.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/system/file.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* States of sockets in /proc/net. An unconnected UDP socket has the number of TCP_CLOSE. */
enum { LISTENING = 0x0a, UNCONNECTED = 0x07 };

/* /proc/net has addresses as hexadecimal words of 32 bits, each in the machine's byte order. The
 * last word of an IPv4-mapped IPv6 address is the IPv4 address. "0.0.0.0" and "::" are zeros. */
uint64_t node_port_holder_inode(const char *line, int type, struct in_addr address, uint16_t port)
{
    char host[33];
    unsigned number, state;
    uint64_t inode;
    if (sscanf(line, " %*d: %32[0-9A-F]:%x %*[0-9A-F:] %x %*s %*s %*s %*u %*u %" SCNu64, host,
               &number, &state, &inode) != 4 ||
        number != port || state != (type == SOCK_DGRAM ? UNCONNECTED : LISTENING))
        return 0;
    size_t size = strlen(host);
    uint32_t word = size >= 8 ? (uint32_t)strtoul(host + size - 8, NULL, 16) : 1;
    bool is_any = strspn(host, "0") == size;
    return is_any || word == address.s_addr ? inode : 0;
}

/* Returns the inode of the socket in one of these files, or 0. */
static uint64_t find_inode(const char *table, int type, struct in_addr address, uint16_t port)
{
    char line[512];
    uint64_t inode = 0;
    FILE *file = fopen(table, "re");
    while (file && inode == 0 && fgets(line, sizeof(line), file))
        inode = node_port_holder_inode(line, type, address, port);
    if (file)
        fclose(file);
    return inode;
}

/* Returns true if the process has the socket open. `socket` is the text of the link in
 * /proc/PID/fd. */
static bool has_socket(const char *pid, const char *socket)
{
    _cleanup_free_ char *path = mem_printf("/proc/%s/fd", pid);
    bool found = false;
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && !found && (entry = readdir(directory));) {
        char target[64];
        ssize_t size = readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
        target[size > 0 ? size : 0] = '\0';
        found = strcmp(target, socket) == 0;
    }
    if (directory)
        closedir(directory);
    return found;
}

static void port_holder_describe(const char *pid, char *text, size_t size)
{
    _cleanup_free_ char *path = mem_printf("/proc/%s/comm", pid);
    _cleanup_buf_ struct buf name;
    buf_init(&name, 64);
    (void)file_read(path, &name, NULL);
    name.data[strcspn(name.data, "\n")] = '\0';
    snprintf(text, size, "%s (process %s)", name.data, pid);
}

bool node_port_holder(int type, struct in_addr address, uint16_t port, char *text, size_t size)
{
    bool datagrams = type == SOCK_DGRAM;
    uint64_t inode = find_inode(datagrams ? "/proc/net/udp" : "/proc/net/tcp", type, address, port);
    if (inode == 0)
        inode = find_inode(datagrams ? "/proc/net/udp6" : "/proc/net/tcp6", type, address, port);
    if (inode == 0)
        return false;
    _cleanup_free_ char *socket = mem_printf("socket:[%" PRIu64 "]", inode);
    bool found = false;
    DIR *directory = opendir("/proc");
    for (struct dirent *entry; directory && !found && (entry = readdir(directory));) {
        found = isdigit((unsigned char)entry->d_name[0]) && has_socket(entry->d_name, socket);
        if (found)
            port_holder_describe(entry->d_name, text, size);
    }
    if (directory)
        closedir(directory);
    return found;
}
