/* Computes answers from the table of names; see names/answer.h. */
#include "node/names/answer.h"

#include "base/mem.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <string.h>

/* Aliases that are followed per query. A limit is needed, because a chain of aliases may be a
 * cycle. */
enum { ALIASES_MAX = 8 };

#define CLUSTER_DOMAIN "cluster.local"

/* The responder is authoritative for these suffixes: it denies a name that does not exist instead
 * of forwarding it. The short forms "svc" and "pod" are common in configurations. The reverse zones
 * are the ranges of network/pod_network.h. */
static const char *const ZONES[] = {
    CLUSTER_DOMAIN, "svc", "pod", "localhost", "244.10.in-addr.arpa", "96.10.in-addr.arpa",
};

/* Returns true if the name is the zone or is in the zone. */
static bool ends_in(const char *name, const char *zone)
{
    size_t size = strlen(name), tail = strlen(zone);
    return size >= tail && str_eq(name + size - tail, zone) &&
           (size == tail || name[size - tail - 1] == '.');
}

/* Returns the zone that the name is in, or NULL. */
static const char *zone_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(ZONES); i++)
        if (ends_in(name, ZONES[i]))
            return ZONES[i];
    return NULL;
}

/* Parses a pod's name, which contains the pod's address: "10-244-1-2.default.pod.cluster.local". */
static bool read_pod_name(const char *name, struct in_addr *ret)
{
    char text[INET_ADDRSTRLEN];
    size_t size = strcspn(name, ".");
    const char *namespace_ = name + size + (name[size] == '.');
    const char *rest = strchr(namespace_, '.');
    if (size >= sizeof(text) || !rest || !str_eq(rest, ".pod." CLUSTER_DOMAIN))
        return false;
    for (size_t i = 0; i < size; i++)
        text[i] = name[i] == '-' ? '.' : name[i];
    text[size] = '\0';
    return inet_pton(AF_INET, text, ret) == 1;
}

/* Returns the entry of the name, or NULL. The table has no entries of pods and of localhost. They
 * are built in `*built` and `*address`. */
static const struct names_entry *answer_find_entry(const struct names_table *table,
                                                   const char *name, struct names_entry *built,
                                                   struct in_addr *address)
{
    char whole[DNS_NAME_MAX + sizeof("." CLUSTER_DOMAIN)];
    size_t size = strlen(name);
    if (size > DNS_NAME_MAX)
        return NULL;
    memcpy(whole, name, size + 1);
    if (ends_in(name, "svc") || ends_in(name, "pod"))
        memcpy(whole + size, "." CLUSTER_DOMAIN, sizeof("." CLUSTER_DOMAIN));
    *built = (struct names_entry){.name = name, .addresses = address, .address_count = 1};
    if (str_eq(name, "localhost"))
        address->s_addr = htonl(INADDR_LOOPBACK);
    else if (!read_pod_name(whole, address))
        return names_table_find(table, whole);
    return built;
}

static bool answer_wants_type(const struct dns_query *query, enum dns_type type)
{
    return query->type == type || query->type == DNS_ANY;
}

/* Adds all records of one entry that match the query's type. Most clients use the first address, so
 * the order varies: the random ID of the query selects the first one. */
static void add_records(struct dns_answer *answer, const struct names_table *table,
                        const struct names_entry *entry, const char *owner)
{
    const struct dns_query *query = answer->query;
    size_t count = entry->address_count;
    for (size_t i = 0; answer_wants_type(query, DNS_A) && i < count; i++)
        dns_answer_address(answer, DNS_ANSWERS, owner, entry->addresses[(query->id + i) % count]);
    for (size_t i = 0; answer_wants_type(query, DNS_PTR) && i < entry->pointer_count; i++)
        dns_answer_name(answer, owner, DNS_PTR, entry->pointers[i]);
    for (size_t i = 0; answer_wants_type(query, DNS_SRV) && i < entry->port_count; i++)
        dns_answer_service(answer, owner, entry->ports[i].number, entry->ports[i].target);
    for (size_t i = 0; answer_wants_type(query, DNS_SRV) && i < entry->port_count; i++) {
        const struct names_entry *target = names_table_find(table, entry->ports[i].target);
        for (size_t k = 0; target && k < target->address_count; k++)
            dns_answer_address(answer, DNS_ADDITIONAL, target->name, target->addresses[k]);
    }
}

/* Adds the addresses in the reply of another server. */
static void add_outside_reply(struct dns_answer *answer, const struct names_outside_reply *outside)
{
    struct dns_reply reply = outside->reply;
    for (struct dns_record record; dns_reply_next(&reply, &record);) {
        if (record.type == answer->query->type &&
            record.size ==
                (record.type == DNS_A ? sizeof(struct in_addr) : sizeof(struct in6_addr)))
            dns_answer_data(answer, outside->name, record.type, record.ttl, record.data,
                            record.size);
    }
    answer->is_cut = answer->is_cut || reply.is_cut;
}

/* Copies an alias without a final dot. Returns false if it is not a valid name. */
static bool take_alias(const char *alias, char ret[DNS_NAME_MAX + 1])
{
    size_t size = strlen(alias);
    if (size > 0 && alias[size - 1] == '.')
        size--;
    if (size > DNS_NAME_MAX)
        return false;
    memcpy(ret, alias, size);
    ret[size] = '\0';
    return dns_is_name(ret);
}

/* Adds the chain of aliases that begins at the query's name, and the records of the last name of
 * the chain. Sets `name` to this last name. Returns true if the caller must ask another server for
 * the last name: it is outside of the cluster, `outside` has no reply about it, and the query is
 * for an address. */
static bool answer_follow_alias(struct dns_answer *answer, const struct names_table *table,
                                const struct names_entry *entry,
                                const struct names_outside_reply *outside,
                                char name[DNS_NAME_MAX + 1])
{
    const struct dns_query *query = answer->query;
    struct names_entry built;
    struct in_addr address;
    str_copy(name, DNS_NAME_MAX + 1, query->name);
    for (int hops = 0; entry && entry->alias && hops < ALIASES_MAX; hops++) {
        char next[DNS_NAME_MAX + 1];
        if (!take_alias(entry->alias, next))
            return false;
        dns_answer_name(answer, name, DNS_CNAME, next);
        memcpy(name, next, sizeof(next));
        if (query->type == DNS_CNAME || query->type == DNS_ANY)
            return false; /* the query is for the alias itself */
        entry = answer_find_entry(table, name, &built, &address);
    }
    if (entry)
        add_records(answer, table, entry, name);
    else if (outside && str_eq(outside->name, name))
        add_outside_reply(answer, outside);
    else
        return !zone_of(name) && (query->type == DNS_A || query->type == DNS_AAAA);
    return false;
}

enum names_verdict names_answer(const struct names_table *table, const struct dns_query *query,
                                const struct names_outside_reply *outside, void *data, size_t max,
                                size_t *ret_size, char ret_alias[DNS_NAME_MAX + 1])
{
    const char *zone = query->is_unusual ? NULL : zone_of(query->name);
    struct names_entry built;
    struct in_addr address;
    const struct names_entry *entry =
        query->is_unusual ? NULL : answer_find_entry(table, query->name, &built, &address);
    if (!zone && (!entry || (!entry->alias && !entry->address_count)))
        return NAMES_OUTSIDE; /* also for a parent of a name of the cluster, such as "internal" */
    struct dns_answer answer;
    dns_answer_begin(&answer, query, data, max);
    if (answer_follow_alias(&answer, table, entry, outside, ret_alias) && !outside)
        return NAMES_ALIAS_OUTSIDE;
    if (answer.counts[DNS_ANSWERS] == 0 && !answer.is_cut)
        dns_answer_soa(&answer, zone ? zone : query->name);
    *ret_size = dns_answer_end(&answer, entry ? DNS_NOERROR : DNS_NXDOMAIN, true);
    return NAMES_ANSWERED;
}
