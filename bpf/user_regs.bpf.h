/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The registers of user code, as it was interrupted or as it entered the kernel. They are at the
 * top of the task's kernel stack, whatever the program was called for: on x86-64 and arm64 the
 * kernel stores them there at each entry from user code, also at an NMI. This needs Linux 5.15
 * (bpf_task_pt_regs).
 */
#ifndef PERFTAPE_BPF_USER_REGS_BPF_H
#define PERFTAPE_BPF_USER_REGS_BPF_H

#include "bpf/kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* include/linux/sched.h. User workers (Linux 6.4) are the kernel's threads within a process. */
#define PF_EXITING     0x00000004
#define PF_USER_WORKER 0x00004000
#define PF_KTHREAD     0x00200000

#if defined(__TARGET_ARCH_x86)
/* __USER32_CS of arch/x86/include/asm/segment.h */
#define USER32_CS 0x23

static __always_inline __u64 stack_pointer_of(const bpf_user_pt_regs_t *regs)
{
	return regs->sp;
}

/* The upper bits of the word may have other values (FRED). */
static __always_inline __u64 user_abi_of(const bpf_user_pt_regs_t *regs)
{
	return (regs->cs & 0xffff) == USER32_CS ? PERF_SAMPLE_REGS_ABI_32 : PERF_SAMPLE_REGS_ABI_64;
}
#else
/* arch/arm64/include/uapi/asm/ptrace.h */
#define PSR_MODE32_BIT 0x10
/* PERF_REG_ARM_SP of arch/arm/include/uapi/asm/perf_regs.h */
#define COMPAT_SP      13

static __always_inline __u64 user_abi_of(const bpf_user_pt_regs_t *regs)
{
	return (regs->pstate & PSR_MODE32_BIT) ? PERF_SAMPLE_REGS_ABI_32 : PERF_SAMPLE_REGS_ABI_64;
}

static __always_inline __u64 stack_pointer_of(const bpf_user_pt_regs_t *regs)
{
	if (regs->pstate & PSR_MODE32_BIT)
		return regs->regs[COMPAT_SP];
	return regs->sp;
}
#endif

/*
 * Reads the user registers of a task that is the current one or waits. Returns their
 * PERF_SAMPLE_REGS_ABI_*: NONE for a thread of the kernel, which has none.
 */
static __always_inline __u64 read_user_regs(struct task_struct *task, bpf_user_pt_regs_t *regs)
{
	if (BPF_CORE_READ(task, flags) & (PF_KTHREAD | PF_USER_WORKER))
		return PERF_SAMPLE_REGS_ABI_NONE;
	if (bpf_probe_read_kernel(regs, sizeof(*regs), (void *)bpf_task_pt_regs(task)) != 0)
		return PERF_SAMPLE_REGS_ABI_NONE;
	return user_abi_of(regs);
}

/*
 * Whether the current task's stack is gone: in execve(2) the registers are those of the program
 * that called it, but the memory is the next one's; a task that exits has left its memory.
 */
static __always_inline int has_lost_stack(struct task_struct *task, const bpf_user_pt_regs_t *regs)
{
	int in_execve = 0;
	__u64 word;

	if (bpf_core_field_exists(task->in_execve))
		in_execve = BPF_CORE_READ_BITFIELD_PROBED(task, in_execve);
	if (!in_execve && !(BPF_CORE_READ(task, flags) & PF_EXITING))
		return 0;
	return bpf_probe_read_user(&word, sizeof(word), (const void *)stack_pointer_of(regs)) != 0;
}

#endif
