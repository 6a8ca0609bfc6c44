/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Latency of direct reclaim, for lack of memory of the machine or of a memory cgroup, and the
 * number of page faults of user code. One may be within the other; that is one call.
 */
#include "bpf/latency.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct reclaim {
	__u64 start_ns; /* 0: none */
	struct caller caller;
	__s32 order;
	__u32 depth;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct reclaim);
} reclaims SEC(".maps");

/* One that is within another is followed on each CPU, also on those that are not recorded. */
static __always_inline int begin_reclaim(int order)
{
	struct wire_cpu *cpu = counters_of_slot(WIRE_LATENCY_RECLAIM);
	struct task_ids ids = fast_ids();
	struct reclaim *reclaim =
		bpf_task_storage_get(&reclaims, bpf_get_current_task_btf(), NULL, 0);

	if (reclaim && reclaim->start_ns) {
		reclaim->depth++;
		return 0;
	}
	if (!cpu || !is_wanted(ids.tgid, ids.tid))
		return 0;
	reclaim = bpf_task_storage_get(&reclaims, bpf_get_current_task_btf(), NULL,
				       BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!reclaim) {
		cpu->no_begin++;
		return 0;
	}
	reclaim->depth = 1;
	reclaim->caller.tgid = ids.tgid;
	reclaim->caller.tid = ids.tid;
	reclaim->caller.cgroup = loaded_cgroup_of(bpf_get_current_task_btf());
	reclaim->order = order;
	reclaim->start_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void send_reclaim(void *ctx, struct wire_cpu *cpu,
					 const struct reclaim *reclaim,
					 const struct latency_end *end)
{
	struct full_sample *full = scratch_sample(cpu);
	struct task_ids ids = {.tgid = reclaim->caller.tgid, .tid = reclaim->caller.tid};
	struct sample_origin origin = {.mode = WIRE_MODE_KERNEL, .own_frames = TRACING_FRAMES};
	struct wire_latency_raw *raw;

	if (!full)
		return;
	raw = start_raw(full, end, ids.tid);
	raw->fd = reclaim->order;
	origin.event = probe_of(WIRE_LATENCY_RECLAIM)->event;
	origin.raw_words = RAW_HEAD_WORDS;
	origin.period = end->period_ns;
	origin.now_ns = end->now_ns;
	bpf_get_stack(ctx, &origin.ip, sizeof(origin.ip), TRACING_FRAMES);
	send_sample_in(full, ctx, cpu, &origin, &ids);
}

SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
int BPF_PROG(on_reclaim_begin, int order)
{
	return begin_reclaim(order);
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(on_cgroup_reclaim_begin, int order)
{
	return begin_reclaim(order);
}

static __always_inline int end_reclaim(void *ctx)
{
	struct reclaim *reclaim =
		bpf_task_storage_get(&reclaims, bpf_get_current_task_btf(), NULL, 0);
	struct wire_cpu *cpu = counters_of_slot(WIRE_LATENCY_RECLAIM);
	struct latency_end end = {.slot = WIRE_LATENCY_RECLAIM};

	if (!reclaim || !reclaim->start_ns || --reclaim->depth)
		return 0;
	end.now_ns = bpf_ktime_get_ns();
	end.period_ns = end.now_ns - reclaim->start_ns;
	reclaim->start_ns = 0;
	if (!cpu)
		return 0;
	cpu->overflows++;
	cpu->wanted++;
	if (count_call(&end, &reclaim->caller))
		send_reclaim(ctx, cpu, reclaim, &end);
	return 0;
}

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(on_reclaim_end)
{
	return end_reclaim(ctx);
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(on_cgroup_reclaim_end)
{
	return end_reclaim(ctx);
}

/* How long it takes is not known here: that needs a probe at the end of handle_mm_fault. */
SEC("tp_btf/page_fault_user")
int BPF_PROG(on_page_fault)
{
	struct wire_cpu *cpu = counters_of_slot(WIRE_LATENCY_PAGE_FAULT);
	struct latency_end end = {.slot = WIRE_LATENCY_PAGE_FAULT};
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_ids ids = ids_of(task);
	struct caller caller = {.tgid = ids.tgid, .tid = ids.tid};

	if (!cpu || !is_wanted(ids.tgid, ids.tid))
		return 0;
	cpu->overflows++;
	caller.cgroup = loaded_cgroup_of(task);
	count_call(&end, &caller);
	return 0;
}
