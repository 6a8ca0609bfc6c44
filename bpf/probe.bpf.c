/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a sample to the ring for each hit of a probe: an instruction of a program (uprobe, USDT),
 * the return of one of its functions (uretprobe), or the same in the kernel (kprobe, kretprobe).
 * The kernel calls the program on any CPU and for any task.
 *
 * Since Linux 6.0 a task may be preempted while it runs this program for a uprobe
 * (bpf_prog_run_array_uprobe), and another task may run it on the same CPU meanwhile. So counters
 * are changed atomically, and a scratch sample has an owner. This needs Linux 5.12
 * (BPF_CMPXCHG).
 */
#define SAMPLE_RAW_SIZE 0
#define SCRATCH_SAMPLES 4
#include "bpf/sample.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Whether a scratch sample of this CPU is in use. The program cannot move to another CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_SAMPLES);
	__type(key, __u32);
	__type(value, __u64);
} scratch_in_use SEC(".maps");

/* Returns the return address before the first instruction of a function; 0 if it is not known. */
#if defined(__TARGET_ARCH_x86)
static __always_inline __u64 return_address_of(const bpf_user_pt_regs_t *regs)
{
	__u64 address = 0;

	bpf_probe_read_user(&address, sizeof(address), (const void *)regs->sp);
	return address;
}
#else
/*
 * A kretprobe of the same function may have run before this program. Then the function returns to
 * the kernel's trampoline, and only the kretprobe knows the caller. Kernels have one of the two.
 */
extern const void __kretprobe_trampoline __ksym __weak;	 /* Linux 5.15 */
extern const void arch_rethook_trampoline __ksym __weak; /* with CONFIG_RETHOOK */

static __always_inline __u64 return_address_of(const bpf_user_pt_regs_t *regs)
{
	__u64 address = regs->regs[30];

	if (address == (__u64)&__kretprobe_trampoline || address == (__u64)&arch_rethook_trampoline)
		return 0;
	return address;
}
#endif

/*
 * Claims a scratch sample and returns its number; SCRATCH_SAMPLES if so many tasks are preempted in
 * here. The loop is unrolled, because the verifier of Linux 6.1 does not see its end.
 */
static __always_inline __u32 claim_scratch(void)
{
	__u64 *in_use;
	__u32 slot;
	__u32 i;

#pragma unroll
	for (i = 0; i < SCRATCH_SAMPLES; i++) {
		slot = i;
		in_use = bpf_map_lookup_elem(&scratch_in_use, &slot);
		if (in_use && __sync_val_compare_and_swap(in_use, 0, 1) == 0)
			return i;
	}
	return SCRATCH_SAMPLES;
}

static __always_inline void sample_hit(void *ctx, struct wire_cpu *cpu,
				       struct sample_origin *origin)
{
	__u32 slot = claim_scratch();
	struct full_sample *full = scratch_sample_of(slot);
	__u64 *in_use = bpf_map_lookup_elem(&scratch_in_use, &slot);
	struct task_ids ids = current_ids();

	if (!full || !in_use) {
		__sync_fetch_and_add(&cpu->no_scratch, 1);
		return;
	}
	origin->slot = slot;
	send_sample_in(full, ctx, cpu, origin, &ids);
	__sync_lock_test_and_set(in_use, 0);
}

SEC("kprobe")
int on_probe(bpf_user_pt_regs_t *regs)
{
	__u32 event = event_of(regs);
	struct wire_cpu *cpu = counters_of(event);
	struct wire_event *settings = settings_of(event);
	struct sample_origin origin = {.event = event};
	struct task_ids ids;
	__u64 hit;

	if (!cpu || !settings || cpu->excluded)
		return 0;
	__sync_fetch_and_add(&cpu->overflows, 1);
	ids = current_ids();
	if (!is_wanted(ids.tgid, ids.tid))
		return 0;
	__sync_fetch_and_add(&cpu->wanted, 1);
	hit = __sync_fetch_and_add(&cpu->hits, 1) + 1;
	if (!is_sampled(settings, hit))
		return 0;
	origin.mode = mode_of(regs);
	origin.ip = ip_of(regs);
	origin.period = settings->every;
	origin.now_ns = bpf_ktime_get_ns();
	if (settings->flags & WIRE_AT_ENTRY)
		origin.caller = return_address_of(regs);
	if (settings->flags & WIRE_PUSHES_FP)
		origin.flags = WIRE_CALLER_MAY_BE_FRAME;
	sample_hit(regs, cpu, &origin);
	return 0;
}
