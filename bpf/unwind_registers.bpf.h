/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registers of a walk (unwind.bpf.h) that the rules of few functions need. */
#ifndef PERFTAPE_BPF_UNWIND_REGISTERS_BPF_H
#define PERFTAPE_BPF_UNWIND_REGISTERS_BPF_H

#include "bpf/registers.bpf.h"
#include "bpf/unwind_state.bpf.h"
#include "bpf/unwind_wire.h"

/* A register by its number in call frame information. Returns an enum wire_unwind_end, or 0. */
static __always_inline __u32 load_register(struct unwind_state *state, __u32 number, __u64 *value)
{
	if (number == WIRE_STACK_POINTER) {
		*value = state->sp;
		return 0;
	}
	if (number == WIRE_FRAME_POINTER) {
		if (load_fp(state) != 0)
			return WIRE_END_UNREADABLE;
		*value = state->fp;
		return 0;
	}
	state->needs_registers = 1;
	if (!state->follows_registers)
		return WIRE_END_NO_ROW;
	if (number == WIRE_BASE) {
		*value = state->bx;
		return state->bx ? 0 : WIRE_END_NO_ROW;
	}
	if (number >= WIRE_GENERAL || !(state->kept >> number & 1))
		return WIRE_END_NO_ROW;
#if defined(__TARGET_ARCH_x86)
	if (state->general_at) {
		number = WIRE_SIGNAL_REGISTERS >> 4 * (number & 15) & 15;
		return read_word(state, value, state->general_at + 8 * number) ? WIRE_END_NO_ROW
									       : 0;
	}
#endif
	*value = general_register_of(&state->regs, number);
	return 0;
}

/*
 * Sets state->sum to the base and the index of a rule. Few rules need it. Returns an enum
 * wire_unwind_end; 0 is success here.
 */
__weak __noinline int add_registers(__u32 slot, __u32 base, __u32 index, __u32 scale)
{
	struct unwind_state *state = bpf_map_lookup_elem(&unwind_states, &slot);
	__u64 value = 0;
	__u64 sum = 0;
	__u32 failure;

	if (!state)
		return WIRE_END_NO_ROW;
	failure = load_register(state, base, &sum);
	if (!failure && scale)
		failure = load_register(state, index, &value);
	state->sum = sum + scale * value;
	return failure;
}

#endif
