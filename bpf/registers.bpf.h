/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registers that the walks of stacks use, by architecture. */
#ifndef PERFTAPE_BPF_REGISTERS_BPF_H
#define PERFTAPE_BPF_REGISTERS_BPF_H

#include "bpf/kernel_types.h"

#include <bpf/bpf_helpers.h>

#include "bpf/wire.h"

#if defined(__TARGET_ARCH_x86)
static __always_inline __u64 ip_of(const bpf_user_pt_regs_t *regs)
{
	return regs->ip;
}

static __always_inline __u64 frame_pointer_of(const bpf_user_pt_regs_t *regs)
{
	return regs->bp;
}

static __always_inline __u64 without_signature(__u64 address)
{
	return address;
}

/* Where vfork keeps its return address, because the child overwrites the stack. */
static __always_inline __u64 link_of(const bpf_user_pt_regs_t *regs)
{
	return regs->di;
}

/* Which rules of unwind tables may need. */
static __always_inline __u64 base_register_of(const bpf_user_pt_regs_t *regs)
{
	return regs->bx;
}

static __always_inline __u64 count_register_of(const bpf_user_pt_regs_t *regs)
{
	return regs->cx;
}

/*
 * A register by its number in call frame information, below 16: the words of struct pt_regs, whose
 * layout is fixed, four bits each. The stack pointer is not among them.
 */
static __always_inline __u64 general_register_of(const bpf_user_pt_regs_t *regs, __u32 number)
{
	__u64 word = 0x0123678904ed5bcaULL >> 4 * (number & 15) & 15;

	barrier_var(word);
	return *((const __u64 *)regs + (word & 15));
}

/* The selector of the code segment contains the privilege level. */
static __always_inline __u32 mode_of(const bpf_user_pt_regs_t *regs)
{
	return (regs->cs & 3) != 0 ? WIRE_MODE_USER : WIRE_MODE_KERNEL;
}
#else
static __always_inline __u64 ip_of(const bpf_user_pt_regs_t *regs)
{
	return regs->pc;
}

static __always_inline __u64 frame_pointer_of(const bpf_user_pt_regs_t *regs)
{
	return regs->regs[29];
}

/* Pointer authentication signs return addresses in bits 48 to 54. */
static __always_inline __u64 without_signature(__u64 address)
{
	return address & ((1ULL << 48) - 1);
}

static __always_inline __u64 link_of(const bpf_user_pt_regs_t *regs)
{
	return regs->regs[30];
}

static __always_inline __u64 base_register_of(const bpf_user_pt_regs_t *regs)
{
	(void)regs;
	return 0;
}

static __always_inline __u64 count_register_of(const bpf_user_pt_regs_t *regs)
{
	(void)regs;
	return 0;
}

/* A register by its number in call frame information, below 31. */
static __always_inline __u64 general_register_of(const bpf_user_pt_regs_t *regs, __u32 number)
{
	__u64 word = number;

	barrier_var(word);
	word &= 31;
	return word < 31 ? regs->regs[word] : 0;
}

/* The kernel is in the upper half of the address space. */
static __always_inline __u32 mode_of(const bpf_user_pt_regs_t *regs)
{
	return (__s64)regs->pc >= 0 ? WIRE_MODE_USER : WIRE_MODE_KERNEL;
}
#endif

#endif
