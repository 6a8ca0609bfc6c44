/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maps with unwind tables (unwind_wire.h), and the search for a process and for the rule of an
 * address.
 */
#ifndef PERFTAPE_BPF_UNWIND_TABLES_BPF_H
#define PERFTAPE_BPF_UNWIND_TABLES_BPF_H

#include "bpf/kernel_types.h"
#include "bpf/unwind_wire.h"

#include <bpf/bpf_helpers.h>

/* User space sets the sizes of these. */
#define UNWIND_MAP(name, value_type)                                                               \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                  \
		__uint(map_flags, BPF_F_MMAPABLE);                                                 \
		__uint(max_entries, 1);                                                            \
		__type(key, __u32);                                                                \
		__type(value, value_type);                                                         \
	} name SEC(".maps")

UNWIND_MAP(unwind_cells, struct wire_unwind_cell);
UNWIND_MAP(unwind_rules, struct wire_unwind_rule);
UNWIND_MAP(unwind_tables, struct wire_unwind_table);
UNWIND_MAP(unwind_mappings, struct wire_unwind_mapping);
UNWIND_MAP(unwind_processes, __u64);
UNWIND_MAP(unwind_counts, struct wire_unwind_counts);

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* user space sets WIRE_UNWIND_RECENT for each CPU */
	__type(key, __u32);
	__type(value, __u64);
} unwind_recent SEC(".maps");

static __always_inline struct wire_unwind_cell *cell_at(__u32 index)
{
	return bpf_map_lookup_elem(&unwind_cells, &index);
}

/* The number of the rule at a distance in a table; WIRE_UNWIND_RULES outside of its rows. */
static __always_inline __u32 search_rows(const struct wire_unwind_table *table, __u64 distance)
{
	struct wire_unwind_cell *cell = cell_at(table->first + (distance >> WIRE_UNWIND_PAGE_BITS));
	__u32 low;
	__u32 high;
	__u32 i;

	if (!cell)
		return WIRE_UNWIND_RULES;
	/* The row before `low` holds if the row at `low` is behind the address. */
	low = cell->page.first + 1;
	high = cell->page.end;
	for (i = 0; i <= WIRE_UNWIND_PAGE_BITS && low < high; i++) {
		__u32 middle = low + (high - low) / 2;

		cell = cell_at(middle);
		if (!cell)
			return WIRE_UNWIND_RULES;
		if (cell->row.pc <= distance)
			low = middle + 1;
		else
			high = middle;
	}
	cell = cell_at(low - 1);
	return cell ? cell->row.rule : WIRE_UNWIND_RULES;
}

/*
 * The element of unwind_recent on this CPU. `page` is the load of a table and the number of the
 * page. Each distance in a page has an element of its own, so that load and page identify it.
 */
static __always_inline __u64 *recent_rule(__u64 page, __u64 distance)
{
	__u64 hash = page * 0x9e3779b97f4a7c15 >> (64 - WIRE_UNWIND_PAGE_BITS);
	__u32 index = bpf_get_smp_processor_id() * WIRE_UNWIND_RECENT +
		      ((distance ^ hash) & (WIRE_UNWIND_RECENT - 1));

	return bpf_map_lookup_elem(&unwind_recent, &index);
}

/* The rule at a distance in a table; null outside of its rows. */
static __always_inline struct wire_unwind_rule *find_rule(const struct wire_unwind_table *table,
							  __u64 distance, int is_return)
{
	__u64 page = distance >> WIRE_UNWIND_PAGE_BITS;
	__u64 *recent = NULL;
	__u64 word;
	__u32 rule;

	if (page >= table->pages)
		return NULL;
	page |= (__u64)table->load << WIRE_UNWIND_PAGE_NUMBER_BITS;
	if (is_return)
		recent = recent_rule(page, distance);
	word = recent ? *(volatile __u64 *)recent : 0;
	if (word >> WIRE_UNWIND_RULE_BITS == page) {
		rule = word & (WIRE_UNWIND_RULES - 1);
	} else {
		rule = search_rows(table, distance);
		if (recent && rule < WIRE_UNWIND_RULES)
			*(volatile __u64 *)recent = page << WIRE_UNWIND_RULE_BITS | rule;
	}
	return bpf_map_lookup_elem(&unwind_rules, &rule);
}

/* The entry of a process in unwind_processes; 0 if it is not known. */
static __always_inline __u64 unwind_process_of(__u32 tgid)
{
	__u64 *entry;
	__u64 process;
	__u32 index;
	__u32 i;

	for (i = 0; i < WIRE_UNWIND_PROBES; i++) {
		index = (tgid + i) & (WIRE_UNWIND_PROCESSES - 1);
		entry = bpf_map_lookup_elem(&unwind_processes, &index);
		if (!entry)
			return 0;
		process = *(volatile __u64 *)entry;
		if (process >> WIRE_UNWIND_TGID_SHIFT == tgid)
			return process;
	}
	return 0;
}

#endif
