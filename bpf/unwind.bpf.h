/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks the user stack of the current task with the unwind tables that user space has loaded
 * (unwind_wire.h), as formats/unwind/step.h does: tests/bpf/unwind_test.cc compares them. Where a
 * mapping has no table, frame pointers lead to the next frame, or the instructions of a trampoline.
 *
 * The global functions are verified once, not for each of the programs that call them. They
 * pass their state in a map, because before Linux 5.12 global functions have only numbers as
 * arguments. They are weak because clang would otherwise drop the argument.
 */
#ifndef PERFTAPE_BPF_UNWIND_BPF_H
#define PERFTAPE_BPF_UNWIND_BPF_H

#include "bpf/common.bpf.h"
#include "bpf/compat_frames.bpf.h"
#include "bpf/registers.bpf.h"
#include "bpf/return_probes.bpf.h"
#include "bpf/stack_allowance.bpf.h"
#include "bpf/unwind_registers.bpf.h"
#include "bpf/unwind_return_address.bpf.h"
#include "bpf/unwind_state.bpf.h"
#include "bpf/unwind_tables.bpf.h"
#include "bpf/unwind_wire.h"
#include "bpf/user_regs.bpf.h"
#include "bpf/user_stack.bpf.h"

/* Added to an enum wire_unwind_end: the walk ended only because something is not loaded yet. */
#define UNWIND_UNFINISHED 0x100
/* The same: a frame was found by instructions (WIRE_RULE_DERIVED). */
#define UNWIND_DERIVED 0x200

#if defined(__TARGET_ARCH_x86)
#define RETURN_ADDRESS_BYTES  8	 /* below the CFA */
#define TRAMPOLINE_CALL_BYTES 13 /* of the trampoline, up to the end of its system call */
#else
#define RETURN_ADDRESS_BYTES  0 /* it is in a register */
#define TRAMPOLINE_CALL_BYTES 4
#endif

/* Computes the canonical frame address. Returns an enum wire_unwind_end; 0 is success here. */
static __always_inline __u32 find_cfa(struct unwind_state *state, __u32 slot,
				      const struct wire_unwind_rule *rule, __u64 *cfa)
{
	__u64 offset = (__s64)rule->cfa_offset;
	__u64 base = state->sp;
	__u32 failure;

	if (rule->cfa == WIRE_CFA_FRAME_POINTER || rule->cfa == WIRE_CFA_AT_FRAME_POINTER) {
		if (load_fp(state) != 0)
			return WIRE_END_UNREADABLE;
		base = state->fp;
	}
	*cfa = base + offset;
	switch (rule->cfa) {
	case WIRE_CFA_STACK_POINTER:
	case WIRE_CFA_FRAME_POINTER:
		return 0;
	case WIRE_CFA_AT_STACK_POINTER:
	case WIRE_CFA_AT_FRAME_POINTER:
		if (read_word(state, cfa, base + offset) != 0)
			return WIRE_END_UNREADABLE;
		/* formats/unwind/stack_walk.h, AfterFramePointer */
		if (state->is_by_fp && rule->cfa == WIRE_CFA_AT_FRAME_POINTER && offset == 0)
			*cfa = base;
		*cfa += rule->addend;
		return 0;
	case WIRE_CFA_PLT:
		if ((state->pc & 15) >= rule->addend)
			*cfa += 8;
		return 0;
	case WIRE_CFA_REGISTER:
	case WIRE_CFA_AT_REGISTER:
		failure = add_registers(slot, rule->base, rule->index, rule->scale);
		*cfa = state->sum + offset;
		if (failure || rule->cfa == WIRE_CFA_REGISTER)
			return failure;
		if (read_word(state, cfa, state->sum + offset) != 0)
			return WIRE_END_UNREADABLE;
		*cfa += rule->addend;
		return 0;
	}
	return WIRE_END_NO_ROW;
}

/* The registers of the caller, but the frame pointer. */
static __always_inline int enter_caller(struct unwind_state *state, __u64 pc, __u64 sp,
					__u32 is_return)
{
	state->pc = pc;
	state->sp = sp;
	state->is_first = 0;
	state->is_return = is_return;
	state->is_by_fp = 0;
	return UNWIND_CALLER;
}

/* The caller's rbx, and which other registers of interrupted code it has. */
static __always_inline void follow_registers(struct unwind_state *state,
					     const struct wire_unwind_rule *rule, __u64 cfa)
{
	__u64 bx = 0;

	state->kept &= ~rule->changed;
#if defined(__TARGET_ARCH_x86)
	if (rule->flags & WIRE_RULE_SIGNAL_FRAME && rule->cfa == WIRE_CFA_AT_STACK_POINTER) {
		state->kept = ~0U;
		state->general_at = state->sp + (__s64)rule->cfa_offset - WIRE_SIGNAL_STACK_POINTER;
	}
#endif
	if (rule->bx_words == WIRE_RULE_BX_UNCHANGED)
		return;
	if (rule->bx_words != WIRE_RULE_BX_UNKNOWN &&
	    read_word(state, &bx, cfa + 8 * (__s64)rule->bx_words) != 0)
		bx = 0;
	state->bx = bx;
}

static __always_inline int step_by_rule(struct unwind_state *state, __u32 slot,
					const struct wire_unwind_rule *rule)
{
	int is_signal = rule->flags & WIRE_RULE_SIGNAL_FRAME;
	int is_elsewhere = rule->flags & (WIRE_RULE_SIGNAL_FRAME | WIRE_RULE_OTHER_STACK);
	int by_register = rule->ra_offset == WIRE_RULE_IN_REGISTER;
	__u64 pc = rule->flags & WIRE_RULE_RETURN_IN_CX ? state->cx : state->link;
	__u64 cfa;
	__u64 base;
	__u32 failure = find_cfa(state, slot, rule, &cfa);

	state->derived |= rule->flags & WIRE_RULE_DERIVED;
	if (failure)
		return end_walk(state, failure);
	base = rule->flags & WIRE_RULE_FROM_SP ? state->sp : cfa;
	if (by_register && !state->is_first)
		return end_walk(state, WIRE_END_NO_ROW);
	if (!by_register && read_word(state, &pc, base + (__s64)rule->ra_offset) != 0)
		return end_walk(state, WIRE_END_UNREADABLE);
	if (rule->fp_offset != WIRE_RULE_IN_REGISTER) {
		if (rule->flags & WIRE_RULE_FP_FROM_FP) {
			if (load_fp(state) != 0)
				return end_walk(state, WIRE_END_UNREADABLE);
			base = state->fp;
		}
		state->fp_at = base + (__s64)rule->fp_offset;
		if (!state->fp_at)
			state->fp_at = 1; /* is as unreadable, and 0 says that it was read */
	}
	pc = without_signature(pc);
	/* Of derived rules a zero is only a word that is no return address. */
	if (pc == 0)
		return rule->flags & WIRE_RULE_DERIVED ? end_walk(state, WIRE_END_NO_ROW)
						       : end_of_stack(state);
	if (pc == state->probes.trampoline &&
	    !(pc = true_return_address(&state->probes, cfa - RETURN_ADDRESS_BYTES)))
		return end_walk(state, WIRE_END_NO_ROW);
	/* A handler may run on a stack of its own, which can be anywhere. */
	if (!is_elsewhere && (by_register ? cfa < state->sp : cfa <= state->sp))
		return end_walk(state, WIRE_END_NO_PROGRESS);
	if (state->follows_registers)
		follow_registers(state, rule, cfa);
	return enter_caller(state, pc, cfa, !is_signal);
}

/*
 * The frame record: the caller's frame pointer and the return address. In code without a rule, the
 * frame pointer may be an ordinary register, which leads to any words. So the return address is
 * checked, and a zero is the end only of frames that were found so.
 */
__weak __noinline int step_by_fp(__u32 slot)
{
	struct unwind_state *state = bpf_map_lookup_elem(&unwind_states, &slot);
	__u64 return_address;
	__u64 word;
	int kind;

	if (!state)
		return UNWIND_ENDED;
	if (load_fp(state) != 0)
		return end_walk(state, WIRE_END_UNREADABLE);
	if (state->fp == 0 && state->is_by_fp)
		return end_walk(state, WIRE_END_OF_STACK);
	if (state->fp < state->sp)
		return end_walk(state, WIRE_END_NO_FRAME_POINTER);
	if (read_word(state, &word, state->fp + sizeof(word)) != 0)
		return end_walk(state, WIRE_END_UNREADABLE);
	return_address = without_signature(word);
	if (read_word(state, &word, state->fp) != 0)
		return end_walk(state, WIRE_END_UNREADABLE);
	if (return_address == 0)
		return end_walk(state, WIRE_END_NO_FRAME_POINTER);
	if (return_address == state->probes.trampoline &&
	    !(return_address = true_return_address(&state->probes, state->fp + sizeof(word))))
		return end_walk(state, WIRE_END_NO_ROW);
	state->bx = 0;
	state->kept = 0;
	enter_caller(state, return_address, state->fp + 2 * sizeof(word), 1);
	state->fp = word;
	kind = check_return_address(slot);
	if (kind == WORD_IS_IN_UNKNOWN_CODE)
		return end_walk(state, WIRE_END_NO_MAPPING);
	if (kind == WORD_IS_DATA)
		return end_walk(state, WIRE_END_NO_FRAME_POINTER);
	state->is_by_fp = 1;
	return UNWIND_CALLER;
}

/*
 * In code that was compiled at run time. The instructions are read, because a trampoline without a
 * frame pointer would hide its caller, and lead to a wrong one. So would a function that has not
 * made its frame yet.
 */
static __always_inline int step_through_compiled(struct unwind_state *state, __u32 slot)
{
	struct wire_unwind_rule rule = {
		.cfa = WIRE_CFA_STACK_POINTER,
		.flags = WIRE_RULE_DERIVED,
		.ra_offset = -8,
		.fp_offset = WIRE_RULE_IN_REGISTER,
	};
	__u64 code[2] = {};
	__u32 size = state->is_return ? sizeof(code[0]) : sizeof(code);
	int is_prologue = 0;
	int result;

	if (read_memory(state, code, size, state->pc) != 0)
		return step_by_fp(slot);
	rule.cfa_offset = wire_trampoline_cfa(code[0], code[1], state->is_return);
	if (!rule.cfa_offset && !state->is_return) {
		rule.cfa_offset = wire_prologue_cfa(code[0]);
		is_prologue = rule.cfa_offset != 0;
		if (rule.cfa_offset == 16)
			rule.fp_offset = -16;
	}
	if (!rule.cfa_offset)
		return step_by_fp(slot);
	result = step_by_rule(state, slot, &rule);
	if (result == UNWIND_CALLER && is_prologue &&
	    check_return_address(slot) != WORD_IS_RETURN_ADDRESS)
		return end_walk(state, WIRE_END_NO_FRAME_POINTER);
	return result;
}

/*
 * Whether the stack is as execve(2) leaves it: argc, pointers to the arguments above it, and a null
 * pointer (x86-64 psABI 3.4.1; arm64 has the same).
 */
static __always_inline int is_at_program_start(struct unwind_state *state)
{
	__u64 words[2];
	__u64 end = 1;

	if (state->is_return || state->fp != 0 ||
	    read_memory(state, words, sizeof(words), state->sp) != 0)
		return 0;
	if (words[0] == 0 || words[0] > 0xffff || words[1] <= state->sp)
		return 0;
	return read_word(state, &end, state->sp + (words[0] + 1) * sizeof(__u64)) == 0 && end == 0;
}

/*
 * Where a table has no rule. The kernel clears the frame pointer for a new program, and the ABI
 * (x86-64 psABI 3.4.1) marks the outermost frame so: the first code of the dynamic linker has no
 * call frame information and ends the stack. Other such code may have frame pointers, as V8's
 * builtins in node. It has them if the return address follows a call, and rules then lead to the
 * end.
 */
static __always_inline int step_without_rule(struct unwind_state *state, __u32 slot)
{
	if (load_fp(state) != 0)
		return end_walk(state, WIRE_END_UNREADABLE);
	if ((state->is_return && state->fp == 0) || is_at_program_start(state))
		return end_of_stack(state);
	if (state->guess == WIRE_END_OF_STACK)
		state->guess = WIRE_END_NO_ROW;
	return step_by_fp(slot);
}

/*
 * From the trampoline of uretprobes, which the function has returned to, to the caller. Since Linux
 * 6.11 the trampoline of x86-64 pushes three registers and makes a system call, which replaces the
 * first of them by the true return address and removes the instance (arch/x86/kernel/uprobes.c).
 */
static __always_inline int leave_trampoline(struct unwind_state *state)
{
	struct return_instance *instance = state->probes.instance;
	__u64 sp = BPF_CORE_READ(instance, stack) + RETURN_ADDRESS_BYTES;
	__u64 pc = BPF_CORE_READ(instance, orig_ret_vaddr);

	if (!pc || sp - state->sp > 3 * sizeof(__u64)) {
		sp = state->sp + 3 * sizeof(__u64);
		if (state->pc != state->probes.trampoline + TRAMPOLINE_CALL_BYTES ||
		    read_word(state, &pc, sp - sizeof(__u64)) != 0)
			return end_walk(state, WIRE_END_NO_ROW);
	}
	return enter_caller(state, pc, sp, 1);
}

/* Goes to the caller of the frame in the state. */
__weak __noinline int unwind_step(__u32 slot)
{
	struct wire_unwind_mapping *mapping;
	struct wire_unwind_table *table;
	struct wire_unwind_rule *rule;
	struct unwind_state *state;
	__u64 address;
	__u32 flags;
	int result;

	if (filter.callchain != WIRE_CHAIN_UNWIND)
		return UNWIND_ENDED;
	state = bpf_map_lookup_elem(&unwind_states, &slot);
	if (!state)
		return UNWIND_ENDED;
	if (state->is_first && is_in_trampoline(&state->probes, state->pc))
		return leave_trampoline(state);
	/* The call may be the last instruction of its function. */
	address = state->pc - (state->is_return ? 1 : 0);
	mapping = find_mapping(state, address);
	if (!mapping)
		return end_walk(state, WIRE_END_NO_MAPPING);
	if (mapping->table == WIRE_UNWIND_BY_FP)
		return step_through_compiled(state, slot);
	table = table_of(mapping);
	if (!table)
		return end_walk(state, WIRE_END_NO_TABLE);
	/* A write takes the cache line from the other CPUs. */
	if (state->now_ns > table->last_hit_ns + WIRE_UNWIND_HIT_NS)
		table->last_hit_ns = state->now_ns;
	if (table->pages == 0)
		return end_walk(state, WIRE_END_NO_TABLE);
	rule = find_rule(table, address - mapping->bias, state->is_return);
	if (!rule || rule->cfa == WIRE_CFA_NONE)
		return step_without_rule(state, slot);
	if (rule->cfa == WIRE_CFA_END_OF_STACK)
		return end_of_stack(state);
	flags = rule->flags;
	result = step_by_rule(state, slot, rule);
	if (result == UNWIND_CALLER && (flags & WIRE_RULE_IN_GAP) &&
	    check_return_address(slot) != WORD_IS_RETURN_ADDRESS)
		return end_walk(state, WIRE_END_NO_ROW);
	return result;
}

/*
 * Writes the frames to the state, from the leaf on, and returns their number. WIRE_INTERRUPTED is
 * in front of each later frame that was interrupted.
 */
__weak __noinline int unwind_frames(__u32 slot)
{
	struct unwind_state *state;
	__u32 i;

	if (filter.callchain != WIRE_CHAIN_UNWIND)
		return 0;
	state = bpf_map_lookup_elem(&unwind_states, &slot);
	if (!state)
		return 0;
	for (i = 0; i < USER_FRAMES && i < filter.user_frames; i++) {
		if (!state->is_return && !state->is_marked) {
			state->is_marked = 1;
			state->frames[i] = WIRE_INTERRUPTED;
			continue;
		}
		state->is_marked = 0;
		state->frames[i] = state->pc;
		if (unwind_step(slot) != UNWIND_CALLER)
			return i + 1;
	}
	end_walk(state, WIRE_END_TOO_DEEP);
	return i;
}

/* Returns `end`, with UNWIND_UNFINISHED if user space can walk on from a copy of the stack. */
static __always_inline __u32 unfinished(__u32 end, __u32 cause, __u32 tgid, __u64 now_ns)
{
	if (cause != WIRE_END_NO_PROCESS && cause != WIRE_END_NO_MAPPING &&
	    cause != WIRE_END_NO_TABLE)
		return end;
	return may_copy(tgid, now_ns) ? end | UNWIND_UNFINISHED : end;
}

/* Counts where the chain of a sample ended (unwind_user). WIRE_ENDS is of no chain. */
static __always_inline void count_end(__u32 event, __u32 end)
{
	__u32 index = event * filter.cpus + bpf_get_smp_processor_id();
	struct wire_unwind_counts *counts = bpf_map_lookup_elem(&unwind_counts, &index);
	__u64 number = end;

	barrier_var(number);
	if (!counts)
		return;
	__sync_fetch_and_add(&counts->ends[number & (WIRE_END_COUNTS - 1)], 1);
	if (end & UNWIND_DERIVED)
		__sync_fetch_and_add(&counts->ends[WIRE_CHAINS_DERIVED], 1);
}

/* Sets the registers of the first frame. */
static __always_inline void start_walk(struct unwind_state *state, __u64 process,
				       __u32 follows_registers)
{
	if (state->copy)
		state->probes.trampoline = 0; /* the copy has the true return addresses */
	else
		find_return_probes(&state->probes);
	state->pc = probed_address(&state->probes, ip_of(&state->regs));
	state->sp = stack_pointer_of(&state->regs);
	state->fp = frame_pointer_of(&state->regs);
	state->fp_at = 0;
	state->block_at = 1;
	state->bx = base_register_of(&state->regs);
	state->needs_registers = 0;
	state->follows_registers = follows_registers;
	state->link = link_of(&state->regs);
	state->cx = count_register_of(&state->regs);
	state->general_at = 0;
	state->kept = ~0U;
	state->is_by_fp = 0;
	state->is_first = 1;
	state->is_return = 0;
	state->is_marked = 1; /* each user part begins with a marker */
	state->end = WIRE_END_OF_STACK;
	state->cause = WIRE_END_OF_STACK;
	state->guess = WIRE_END_OF_STACK;
	state->derived = 0;
	state->process = process;
	state->mapping = process & WIRE_UNWIND_FIRST_MASK;
	state->now_ns = bpf_ktime_get_ns();
}

/* Walks from the registers in the state, as unwind_user. */
static __always_inline __u32 unwind_from(struct unwind_state *state, __u32 slot, __u64 process,
					 __u32 tgid, __u64 *frames, __u32 *end)
{
	__u64 count;

	start_walk(state, process, 0);
	count = unwind_frames(slot);
	if (state->needs_registers) {
		start_walk(state, process, 1);
		count = unwind_frames(slot);
	}
	*end = unfinished(state->end, state->cause, tgid, state->now_ns);
	if (state->derived)
		*end |= UNWIND_DERIVED;
	return copy_frames(state, frames, count);
}

/*
 * Writes the user frames of the current task, of process `tgid`, to `frames`, which has room for
 * USER_FRAMES. Returns their number. Sets `end` to an enum wire_unwind_end, or to WIRE_ENDS for
 * a task without a user stack; UNWIND_UNFINISHED and UNWIND_DERIVED may be added. `slot` is the
 * number of the caller's scratch sample.
 */
static __always_inline __u32 unwind_user(void *ctx, __u32 slot, __u32 tgid, __u64 *frames,
					 __u32 *end)
{
	struct unwind_state *state = bpf_map_lookup_elem(&unwind_states, &slot);
	__u64 process;
	__u64 count;
	__u64 abi;

	*end = WIRE_ENDS;
	if (!state)
		return 0;
	abi = read_user_regs(bpf_get_current_task_btf(), &state->regs);
	if (abi == PERF_SAMPLE_REGS_ABI_NONE ||
	    has_lost_stack(bpf_get_current_task_btf(), &state->regs))
		return 0;
	process = unwind_process_of(tgid);
	if (abi == PERF_SAMPLE_REGS_ABI_32) {
		*end = WIRE_END_COMPAT;
		count = believed_frames(slot, walk_frame_pointers(ctx, state->frames));
		return copy_frames(state, frames, count);
	}
	if (!process) {
		*end = unfinished(WIRE_END_NO_PROCESS, WIRE_END_NO_PROCESS, tgid,
				  bpf_ktime_get_ns());
		frames[0] = ip_of(&state->regs);
		return 1;
	}
	return unwind_from(state, slot, process, tgid, frames, end);
}

#endif
