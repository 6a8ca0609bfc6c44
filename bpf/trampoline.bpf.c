/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a sample to the ring for each call of a function of the kernel (on_fentry), or each return
 * from it (on_fexit). Each function has an instance of the programs, because the kernel needs to
 * know the function when it loads a program.
 */
#define SAMPLE_RAW_SIZE 0
#include "bpf/sample.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The frames of the program and of the trampoline. The next one is in the function. */
#define OWN_FRAMES (PROGRAM_FRAMES + 1)

static __always_inline int sample_call(void *ctx)
{
	__u32 event = filter.event;
	struct wire_cpu *cpu = counters_of(event);
	struct wire_event *settings = settings_of(event);
	struct sample_origin origin = {};
	struct task_ids ids;

	if (!cpu || !settings || cpu->excluded)
		return 0;
	cpu->overflows++;
	ids = current_ids();
	if (!is_wanted(ids.tgid, ids.tid))
		return 0;
	if (!is_sampled(settings, ++cpu->hits))
		return 0;
	origin.event = event;
	origin.mode = WIRE_MODE_KERNEL;
	origin.period = settings->every;
	origin.now_ns = bpf_ktime_get_ns();
	origin.own_frames = OWN_FRAMES;
	bpf_get_stack(ctx, &origin.ip, sizeof(origin.ip), OWN_FRAMES);
	send_sample(ctx, cpu, &origin, &ids);
	return 0;
}

/* User space sets the functions. */
SEC("fentry")
int on_fentry(void *ctx)
{
	return sample_call(ctx);
}

SEC("fexit")
int on_fexit(void *ctx)
{
	return sample_call(ctx);
}
