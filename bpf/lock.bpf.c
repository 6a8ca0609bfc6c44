/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a sample to the ring for each wait for a lock of the kernel (lock:contention_begin to
 * contention_end, Linux 5.19), at its end. The period is the time waited, and the raw record is
 * that of contention_begin. A wait for a futex is no wait for a lock of the kernel.
 *
 * A task may wait in an interrupt while it waits for another lock. So its waits are told apart by
 * the address of the lock.
 */
#define SAMPLE_RAW_SIZE 24
#include "bpf/sample.bpf.h"
#include "bpf/tracing.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Task, softirq, hard interrupt, and one that is left over because its end was missed. */
#define MAX_WAITS 4

struct wait {
	__u64 lock; /* 0: not in use */
	__u64 start_ns;
	__u64 flags;
};

struct waits {
	struct wait wait[MAX_WAITS];
};

/* A tp_btf program does not interrupt itself, but the other one may interrupt it. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct waits);
} waiting SEC(".maps");

/* The record of the tracepoint (include/trace/events/lock.h). User space checks the offsets. */
struct contention_record {
	__u16 type;
	__u8 flags;
	__u8 preempt_count;
	__s32 pid;
	__u64 lock;
	__u32 lock_flags;
	__u32 padding;
};

static __always_inline struct wait *find_wait(struct waits *waits, __u64 lock)
{
	__u32 i;

	for (i = 0; i < MAX_WAITS; i++) {
		if (waits->wait[i].lock == lock)
			return &waits->wait[i];
	}
	return NULL;
}

/*
 * A lock whose wait was not seen to end is forgotten when there is no room: its time is unknown. A
 * mutex begins twice, spinning and asleep: that is one wait.
 */
static __always_inline void begin_wait(struct waits *waits, __u64 lock, __u32 flags)
{
	struct wait *wait = find_wait(waits, lock);

	if (!wait) {
		wait = find_wait(waits, 0);
		if (!wait)
			wait = &waits->wait[0];
		wait->start_ns = bpf_ktime_get_ns();
		wait->lock = lock;
	}
	wait->flags = flags;
}

SEC("tp_btf/contention_begin")
int BPF_PROG(on_contention_begin, void *lock, unsigned int flags)
{
	__u32 event = filter.event;
	struct wire_cpu *cpu = counters_of(event);
	struct task_ids ids;
	struct waits *waits;

	/* The ring's own lock: a sample at the end of this wait would wait for it forever. */
	if (!cpu || cpu->excluded || is_sending())
		return 0;
	ids = current_ids();
	if (!is_wanted(ids.tgid, ids.tid))
		return 0;
	waits = bpf_task_storage_get(&waiting, bpf_get_current_task_btf(), NULL,
				     BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (waits)
		begin_wait(waits, (__u64)lock, flags);
	else
		__sync_fetch_and_add(&cpu->no_scratch, 1);
	return 0;
}

static __always_inline void sample_wait(void *ctx, struct wire_cpu *cpu, const struct wait *wait,
					__u64 now_ns)
{
	struct wire_event *settings = settings_of(filter.event);
	struct full_sample *full = scratch_sample(cpu);
	struct contention_record *record;
	struct sample_origin origin = {};
	struct task_ids ids;

	if (!settings || !full)
		return;
	if (!is_sampled(settings, ++cpu->hits))
		return;
	record = (struct contention_record *)full->words;
	*record = (struct contention_record){
		.type = settings->id,
		.pid = (__s32)bpf_get_current_pid_tgid(),
		.lock = wait->lock,
		.lock_flags = wait->flags,
	};
	origin.event = filter.event;
	origin.mode = WIRE_MODE_KERNEL;
	origin.raw_words = sizeof(*record) / sizeof(__u64);
	origin.period = (now_ns - wait->start_ns) * settings->every;
	origin.now_ns = now_ns;
	origin.own_frames = TRACING_FRAMES;
	bpf_get_stack(ctx, &origin.ip, sizeof(origin.ip), TRACING_FRAMES);
	ids = current_ids();
	send_sample(ctx, cpu, &origin, &ids);
}

SEC("tp_btf/contention_end")
int BPF_PROG(on_contention_end, void *lock)
{
	struct wire_cpu *cpu = counters_of(filter.event);
	struct waits *waits;
	struct wait ended;
	struct wait *wait;

	if (!cpu)
		return 0;
	waits = bpf_task_storage_get(&waiting, bpf_get_current_task_btf(), NULL, 0);
	if (!waits)
		return 0;
	wait = find_wait(waits, (__u64)lock);
	if (!wait)
		return 0;
	cpu->overflows++;
	ended = *wait;
	wait->lock = 0; /* now another one may use it */
	sample_wait(ctx, cpu, &ended, bpf_ktime_get_ns());
	return 0;
}
