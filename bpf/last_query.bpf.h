/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When a query of DNS was sent, which latency_dns.bpf.c writes. latency_calls.bpf.c shares the map:
 * as long as there was no query, calls that receive go on to no other program.
 */
#ifndef PERFTAPE_BPF_LAST_QUERY_BPF_H
#define PERFTAPE_BPF_LAST_QUERY_BPF_H

#include "bpf/kernel_types.h"

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} last_query SEC(".maps");

/* In jiffies; 0: never. */
static __always_inline __u64 *last_query_jiffies(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&last_query, &zero);
}

#endif
