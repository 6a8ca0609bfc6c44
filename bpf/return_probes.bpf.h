/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What probes of user code have changed on the current task's stack and in its registers, whoever
 * placed them. A uretprobe replaces the return address of the function by that of a trampoline; the
 * kernel keeps the true one in the task's return instances. An instruction with a uprobe runs from
 * a copy (kernel/events/uprobes.c). Trampoline and copies are in the mapping [uprobes].
 */
#ifndef PERFTAPE_BPF_RETURN_PROBES_BPF_H
#define PERFTAPE_BPF_RETURN_PROBES_BPF_H

#include "bpf/kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define MAX_URETPROBE_DEPTH 64	/* include/linux/uprobes.h: instances of a task */
#define XOL_SLOT_BYTES	    128 /* UPROBE_XOL_SLOT_BYTES; the trampoline is in the first slot */
#define MAX_PROBED_BYTES    16	/* MAX_UINSN_BYTES of x86; arm64 has 4 */

struct return_probes {
	__u64 trampoline;		  /* address; 0: no probe was ever hit in the process */
	struct return_instance *instance; /* of the innermost frame that is not walked yet */
};

static __always_inline struct uprobe_task *uprobe_task_of(struct task_struct *task)
{
	return bpf_core_field_exists(task->utask) ? task->utask : NULL;
}

static __always_inline void find_return_probes(struct return_probes *probes)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct uprobe_task *utask = uprobe_task_of(task);

	probes->trampoline = 0;
	if (!utask)
		return;
	probes->instance = BPF_CORE_READ(utask, return_instances);
	probes->trampoline = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
}

/*
 * The true return address of a function whose return address was at `address`: the slot on x86-64,
 * the CFA on arm64, where the address was in a register. 0 if no instance has it. Instances of
 * frames that longjmp(3) has left are skipped. Of several for one frame each has the address.
 */
static __always_inline __u64 true_return_address(struct return_probes *probes, __u64 address)
{
	struct return_instance *instance = probes->instance;
	__u32 i;

	for (i = 0; i < MAX_URETPROBE_DEPTH && instance; i++) {
		if (BPF_CORE_READ(instance, stack) == address) {
			probes->instance = instance;
			return BPF_CORE_READ(instance, orig_ret_vaddr);
		}
		instance = BPF_CORE_READ(instance, next);
	}
	return 0;
}

/*
 * Writes the true return addresses into a copy of the user stack of `task`, whose first byte was at
 * `sp`. `most` is a constant, and `size` is not larger. Not on arm64, where the address was in a
 * register, and the function has stored it anywhere.
 */
static __always_inline void restore_return_addresses(struct task_struct *task, void *stack,
						     __u64 sp, __u64 size, __u64 most)
{
#if defined(__TARGET_ARCH_x86)
	struct uprobe_task *utask = uprobe_task_of(task);
	struct return_instance *instance;
	__u64 trampoline;
	__u64 offset;
	__u64 *word;
	__u32 i;

	if (!utask || size < sizeof(*word))
		return;
	trampoline = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
	instance = BPF_CORE_READ(utask, return_instances);
	for (i = 0; i < MAX_URETPROBE_DEPTH && instance; i++) {
		offset = BPF_CORE_READ(instance, stack) - sp;
		barrier_var(offset);
		if (offset <= size - sizeof(*word) && offset < most) {
			word = stack + offset;
			if (*word == trampoline)
				*word = BPF_CORE_READ(instance, orig_ret_vaddr);
		}
		instance = BPF_CORE_READ(instance, next);
	}
#else
	(void)task, (void)stack, (void)sp, (void)size, (void)most;
#endif
}

static __always_inline int is_in_trampoline(const struct return_probes *probes, __u64 pc)
{
	return probes->trampoline && pc - probes->trampoline < XOL_SLOT_BYTES;
}

/* The address of the instruction whose copy runs at `pc`; `pc` if it is no copy. */
static __always_inline __u64 probed_address(const struct return_probes *probes, __u64 pc)
{
	struct uprobe_task *utask;
	__u64 distance;

	if (!probes->trampoline || is_in_trampoline(probes, pc))
		return pc;
	utask = uprobe_task_of(bpf_get_current_task_btf());
	if (!utask)
		return pc;
	distance = pc - BPF_CORE_READ(utask, xol_vaddr);
	return distance < MAX_PROBED_BYTES ? BPF_CORE_READ(utask, vaddr) + distance : pc;
}

#endif
