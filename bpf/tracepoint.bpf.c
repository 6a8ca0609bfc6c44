/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a sample to the ring for each hit of a tracepoint, with the record that the kernel made
 * for perf. The kernel calls the program once for a hit, on any CPU and for any task. It passes the
 * hit on to other listeners (perf record) only if all programs return 1.
 */
#define SAMPLE_RAW_SIZE WIRE_MAX_RAW
#include "bpf/sample.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define PASS_ON 1

/*
 * Copies `size` bytes of the record. Zeros fill the last word. The mask is for the verifier. It
 * changes only the index behind the largest record, which needs no zeros.
 */
static __always_inline int copy(struct full_sample *full, __u64 size, void *ctx)
{
	if (size > WIRE_MAX_RAW)
		return -1;
	full->words[(size / 8) & (WIRE_MAX_RAW / 8 - 1)] = 0;
	barrier_var(size);
	if (size > WIRE_MAX_RAW)
		return -1;
	return bpf_probe_read_kernel(full->words, size, ctx);
}

/*
 * Copies the record to the scratch sample and returns its size; 0 if that fails. Fields of variable
 * length follow the others, in the order of their locations. A location is a length in the upper
 * half and an offset in the lower one.
 */
static __always_inline __u32 copy_record(struct full_sample *full,
					 const struct wire_event *settings, void *ctx)
{
	__u32 size = settings->raw_size;
	__u32 at = settings->last_location;
	__u32 location = 0;
	__u32 end;

	if (copy(full, size, ctx) != 0)
		return 0;
	if (!at || bpf_probe_read_kernel(&location, sizeof(location), ctx + at) != 0)
		return size;
	end = (location & 0xffff) + (location >> 16);
	if (settings->flags & WIRE_RELATIVE)
		end += at + sizeof(location);
	if (end <= size)
		return size;
	return copy(full, end, ctx) == 0 ? end : size;
}

static __always_inline int holds(const struct full_sample *full,
				 const struct wire_condition *condition)
{
	__u32 offset = condition->offset;
	__u32 size = condition->size;
	__u64 wanted = condition->value;
	__u64 value = 0;
	__u32 unused;

	if (offset > WIRE_MAX_RAW - sizeof(value) || size < 1 || size > sizeof(value))
		return 0;
	bpf_probe_read_kernel(&value, size, (const char *)full->words + offset);
	unused = 64 - 8 * size;
	if (condition->is_signed)
		value = (__u64)((__s64)(value << unused) >> unused);
	switch (condition->comparison) {
	case WIRE_EQUAL:
		return value == wanted;
	case WIRE_NOT_EQUAL:
		return value != wanted;
	case WIRE_LESS:
		return condition->is_signed ? (__s64)value < (__s64)wanted : value < wanted;
	case WIRE_GREATER:
		return condition->is_signed ? (__s64)value > (__s64)wanted : value > wanted;
	case WIRE_ANY_BIT:
		return (value & wanted) != 0;
	case WIRE_AT_MOST:
		return condition->is_signed ? (__s64)value <= (__s64)wanted : value <= wanted;
	case WIRE_AT_LEAST:
		return condition->is_signed ? (__s64)value >= (__s64)wanted : value >= wanted;
	}
	return 0;
}

static __always_inline int all_hold(const struct full_sample *full,
				    const struct wire_event *settings)
{
	__u32 i;

	for (i = 0; i < WIRE_MAX_CONDITIONS; i++) {
		if (i >= settings->condition_count)
			break;
		if (!holds(full, &settings->conditions[i]))
			return 0;
	}
	return 1;
}

/*
 * The kernel passes its registers in the first word of the record, where the type, flags and pid of
 * every record are. Restores type and pid; the flags are lost.
 */
static __always_inline void restore_common_fields(struct full_sample *full, __u16 id)
{
	full->words[0] = id | (bpf_get_current_pid_tgid() << 32);
}

/*
 * The kernel's registers are those of the caller of the tracepoint. A function of its own, because
 * on arm64 they need more than half of the stack that on_tracepoint and what it calls can have.
 */
static __noinline void find_caller(void *ctx, const void *kernel_regs, int is_from_user,
				   struct sample_origin *origin)
{
	bpf_user_pt_regs_t regs = {};

	if (is_from_user) {
		origin->mode = WIRE_MODE_USER;
		bpf_get_stack(ctx, &origin->ip, sizeof(origin->ip), BPF_F_USER_STACK);
		return;
	}
	bpf_probe_read_kernel(&regs, sizeof(regs), kernel_regs);
	origin->mode = mode_of(&regs);
	origin->ip = ip_of(&regs);
}

static __always_inline void sample_hit(void *ctx, __u32 event, struct wire_cpu *cpu,
				       const struct task_ids *ids)
{
	struct full_sample *full = scratch_sample(cpu);
	struct wire_event *settings = settings_of(event);
	struct sample_origin origin = {};
	__u32 size;

	if (!full || !settings)
		return;
	size = copy_record(full, settings, ctx);
	if (size < sizeof(__u64) || !all_hold(full, settings))
		return;
	if (!is_sampled(settings, ++cpu->hits))
		return;
	find_caller(ctx, (void *)full->words[0], settings->flags & WIRE_FROM_USER, &origin);
	restore_common_fields(full, settings->id);
	origin.event = event;
	origin.raw_words = (size + 7) / 8;
	origin.period = settings->every;
	origin.now_ns = bpf_ktime_get_ns();
	send_sample(ctx, cpu, &origin, ids);
}

SEC("tracepoint")
int on_tracepoint(void *ctx)
{
	__u32 event = event_of(ctx);
	struct wire_cpu *cpu = counters_of(event);
	struct task_ids ids;

	if (!cpu || cpu->excluded)
		return PASS_ON;
	cpu->overflows++;
	ids = current_ids();
	if (!is_wanted(ids.tgid, ids.tid))
		return PASS_ON;
	cpu->wanted++;
	sample_hit(ctx, event, cpu, &ids);
	return PASS_ON;
}
