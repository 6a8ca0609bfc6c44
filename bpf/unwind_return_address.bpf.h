/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The mapping and the table of an address, and whether it is a return address (unwind.bpf.h). */
#ifndef PERFTAPE_BPF_UNWIND_RETURN_ADDRESS_BPF_H
#define PERFTAPE_BPF_UNWIND_RETURN_ADDRESS_BPF_H

#include "bpf/common.bpf.h"
#include "bpf/unwind_state.bpf.h"
#include "bpf/unwind_tables.bpf.h"
#include "bpf/unwind_wire.h"

static __always_inline struct wire_unwind_mapping *mapping_at(__u32 index)
{
	return bpf_map_lookup_elem(&unwind_mappings, &index);
}

/* The mapping of an address: the last one that begins at or below it. */
static __always_inline struct wire_unwind_mapping *find_mapping(struct unwind_state *state,
								__u64 address)
{
	struct wire_unwind_mapping *mapping = mapping_at(state->mapping);
	__u32 low = state->process & WIRE_UNWIND_FIRST_MASK;
	__u32 high = low + ((state->process >> WIRE_UNWIND_COUNT_SHIFT) & WIRE_UNWIND_COUNT_MASK);
	__u32 first = low;
	__u32 i;

	if (mapping && address >= mapping->start && address < mapping->end)
		return mapping;
	for (i = 0; i <= 16 && low < high; i++) { /* a count has 16 bits */
		__u32 middle = low + (high - low) / 2;

		mapping = mapping_at(middle);
		if (!mapping)
			return NULL;
		if (mapping->start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == first)
		return NULL;
	state->mapping = low - 1;
	mapping = mapping_at(low - 1);
	return mapping && address < mapping->end ? mapping : NULL;
}

/* The table of a mapping; null if none is in memory. */
static __always_inline struct wire_unwind_table *table_of(const struct wire_unwind_mapping *mapping)
{
	__u32 index = mapping->table;

	return bpf_map_lookup_elem(&unwind_tables, &index);
}

/* Whether the rule is that before the first instruction of a function. */
static __always_inline int is_entry_rule(const struct wire_unwind_rule *rule)
{
#if defined(__TARGET_ARCH_arm64)
	return rule->cfa == WIRE_CFA_STACK_POINTER && rule->cfa_offset == 0 &&
	       rule->ra_offset == WIRE_RULE_IN_REGISTER;
#else
	return rule->cfa == WIRE_CFA_STACK_POINTER && rule->cfa_offset == 8 &&
	       rule->fp_offset == WIRE_RULE_IN_REGISTER;
#endif
}

/* What a word is that a rule or a frame pointer has led to. */
#define WORD_IS_DATA		0
#define WORD_IS_RETURN_ADDRESS	1
#define WORD_IS_IN_UNKNOWN_CODE 2 /* it follows a call in memory that is not known yet */

static __always_inline int follows_call(struct unwind_state *state)
{
	__u64 word = 0;

	return read_memory(state, &word, sizeof(word), state->pc - sizeof(word)) == 0 &&
	       wire_ends_with_call(word);
}

static __always_inline int is_return_entry(struct unwind_state *state)
{
	__u64 word = 0;

	return read_memory(state, &word, sizeof(word), state->pc) == 0 &&
	       wire_is_return_entry(word);
}

/*
 * Decides it for the pc of the state, as formats/unwind/stack_walk.h does. A return address follows
 * a call, in executable memory, and is not the first instruction of a function. In code without a
 * table it may be the return entry of an interpreter, too.
 */
__weak __noinline int check_return_address(__u32 slot)
{
	struct wire_unwind_mapping *mapping;
	struct wire_unwind_table *table;
	struct wire_unwind_rule *before;
	struct wire_unwind_rule *rule;
	struct unwind_state *state;
	__u64 distance;
	int is_called;

	if (filter.callchain != WIRE_CHAIN_UNWIND)
		return WORD_IS_DATA;
	state = bpf_map_lookup_elem(&unwind_states, &slot);
	if (!state)
		return WORD_IS_DATA;
	is_called = follows_call(state);
	if (!is_called && !is_return_entry(state))
		return WORD_IS_DATA;
	mapping = find_mapping(state, state->pc - 1);
	if (!mapping)
		return WORD_IS_IN_UNKNOWN_CODE;
	table = table_of(mapping);
	if (!table)
		return WORD_IS_RETURN_ADDRESS;
	if (!is_called)
		return WORD_IS_DATA;
	distance = state->pc - mapping->bias;
	rule = find_rule(table, distance, 0);
	if (!rule || !is_entry_rule(rule))
		return WORD_IS_RETURN_ADDRESS;
	before = find_rule(table, distance - 1, 1);
	return before && is_entry_rule(before) ? WORD_IS_RETURN_ADDRESS : WORD_IS_DATA;
}

#endif
