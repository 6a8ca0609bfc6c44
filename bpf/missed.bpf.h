/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts the expiries of the sampling timer that gave no sample, by cause. cpu-clock has a timer
 * with a fixed period, even for a frequency (kernel/events/core.c, perf_swevent_init_hrtimer).
 * After each overflow the timer advances by all periods that have passed (hrtimer_forward_now). So
 * the time between two observed expiries gives the number of expiries between them.
 */
#ifndef PERFTAPE_BPF_MISSED_BPF_H
#define PERFTAPE_BPF_MISSED_BPF_H

#include "bpf/common.bpf.h"

/* Linux 6.2 */
extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym __weak;

/* An upper estimate of the time from the program's last clock read to the kernel's own. */
#define AFTER_PROGRAM_NS 2000

struct overflow {
	__u64 now_ns;
	__u64 expiry_ns;
	__u64 interrupts; /* 0: this kernel gives programs no access to events */
	__u64 tick;
};

static __always_inline struct overflow this_overflow(struct bpf_perf_event_data *ctx)
{
	struct bpf_perf_event_data_kern *kernel = bpf_cast_to_kern_ctx(ctx);

	return (struct overflow){
		.now_ns = bpf_ktime_get_ns(),
		.expiry_ns = kernel->event->hw.hrtimer.node.expires,
		.interrupts = kernel->event->hw.interrupts,
		.tick = kernel->event->hw.interrupts_seq,
	};
}

/*
 * Estimates the expiry: a whole number of periods after the previous one. The estimate adapts to
 * the least delay that occurred.
 */
static __always_inline struct overflow estimated_overflow(struct wire_cpu *cpu, __u64 period)
{
	struct overflow overflow = {.now_ns = bpf_ktime_get_ns()};
	__u64 passed = overflow.now_ns - cpu->expiry_ns;

	overflow.expiry_ns = overflow.now_ns;
	if (period && cpu->expiry_ns && passed >= period)
		overflow.expiry_ns -= passed % period;
	return overflow;
}

/* Counts `count` missed expiries. Of each, `halves` belong to tasks that are wanted. */
static __always_inline void count_cause(struct wire_cpu *cpu, enum wire_missed cause, __u64 count,
					__u64 halves)
{
	cpu->missed[cause] += count * halves;
	cpu->missed_unwanted += count * (2 - halves);
}

/*
 * Counts `missed` expiries that were on time without a call of the program. The kernel counts the
 * overflows of each tick before it checks whether it may call the program. If it made no overflow,
 * it hides the task that ran, which is none of those around it.
 */
static __always_inline void count_uncalled(struct wire_cpu *cpu, const struct overflow *overflow,
					   __u64 missed, __u64 halves)
{
	int is_same_tick = overflow->tick == cpu->tick;
	__u64 halves_of_hidden = filter.every_task ? 2 : halves;
	__u64 before = is_same_tick ? cpu->interrupts : 0;
	__u64 skipped;

	if (overflow->interrupts == WIRE_THROTTLING || overflow->interrupts <= before) {
		count_cause(cpu, WIRE_UNDECIDED, missed, halves_of_hidden);
		return;
	}
	skipped = overflow->interrupts - before - 1;
	if (skipped > missed)
		skipped = missed;
	count_cause(cpu, WIRE_SKIPPED, skipped, halves);
	count_cause(cpu, is_same_tick ? WIRE_NO_OVERFLOW : WIRE_UNDECIDED, missed - skipped,
		    halves_of_hidden);
}

/*
 * Counts the expiries between the last overflow of this CPU and this one. It is unknown which tasks
 * they would have sampled. So half of them count for the task before, half for the task after.
 */
static __always_inline void count_missed(struct wire_cpu *cpu, const struct overflow *overflow,
					 __u64 period, int is_wanted)
{
	__u64 halves = (cpu->was_wanted != 0) + (is_wanted != 0);
	__u64 passed, missed, delay, delayed;

	if (!period || !cpu->expiry_ns || overflow->expiry_ns < cpu->expiry_ns + period)
		return;
	passed = overflow->expiry_ns - cpu->expiry_ns - period;
	if (cpu->interrupts == WIRE_THROTTLING) {
		/* The timer was restarted with another phase. */
		passed += cpu->throttled_ns;
		count_cause(cpu, WIRE_THROTTLED, passed / period, halves);
		cpu->throttled_ns = passed % period;
		return;
	}
	if (passed < period / 2)
		return;
	missed = (passed + period / 2) / period;
	if (!overflow->interrupts) {
		count_cause(cpu, WIRE_UNEXPLAINED, missed, halves);
		return;
	}
	delay = cpu->end_ns + AFTER_PROGRAM_NS - cpu->expiry_ns;
	delayed = delay / period;
	if (delayed > missed)
		delayed = missed;
	count_cause(cpu, delay < WIRE_STALL_NS ? WIRE_LATE : WIRE_STALLED, delayed, halves);
	if (missed > delayed)
		count_uncalled(cpu, overflow, missed - delayed, halves);
}

static __always_inline void end_overflow(struct wire_cpu *cpu, const struct overflow *overflow)
{
	cpu->expiry_ns = overflow->expiry_ns;
	cpu->interrupts = overflow->interrupts;
	cpu->tick = overflow->tick;
	cpu->overflows++;
	cpu->end_ns = bpf_ktime_get_ns();
}

#endif
