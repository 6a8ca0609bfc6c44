/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many stacks of a process are copied because its mappings or tables are not known. */
#ifndef PERFTAPE_BPF_STACK_ALLOWANCE_BPF_H
#define PERFTAPE_BPF_STACK_ALLOWANCE_BPF_H

#include "bpf/common.bpf.h"
#include "bpf/unwind_wire.h"

/*
 * How many more bytes of the stacks of a process may be copied because its mappings or tables are
 * not known. A process whose stacks can never be walked gets few copies after its start.
 */
struct unwind_allowance {
	__u32 tgid;
	__u32 bytes;
	__u64 since_ns; /* bytes were added then */
};

#define UNWIND_COPIES	     512       /* at the start of a process, of filter.late_bytes each */
#define UNWIND_COPY_INTERVAL 125000000 /* one more */
#define UNWIND_LEAST_COPY    2048      /* what a copy of fewer bytes counts as */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* user space sets WIRE_UNWIND_PROCESSES */
	__type(key, __u32);
	__type(value, struct unwind_allowance);
} unwind_allowances SEC(".maps");

static __always_inline struct unwind_allowance *allowance_of(__u32 tgid)
{
	__u32 index = tgid & (WIRE_UNWIND_PROCESSES - 1);

	return bpf_map_lookup_elem(&unwind_allowances, &index);
}

/*
 * Whether one more stack of a process may be copied. It is charged filter.late_bytes. Programs on
 * several CPUs may change the allowance at once; then it is off by a few copies.
 */
static __always_inline int may_copy(__u32 tgid, __u64 now_ns)
{
	struct unwind_allowance *allowance = allowance_of(tgid);
	__u32 most;

	/* The mappings of a process outside of the recorder's pid namespace are never known. */
	if (!filter.late_bytes || !allowance || tgid == 0 || tgid == WIRE_FOREIGN_PID)
		return 0;
	most = UNWIND_COPIES * filter.late_bytes;
	if (allowance->tgid != tgid)
		*allowance =
			(struct unwind_allowance){.tgid = tgid, .bytes = most, .since_ns = now_ns};
	if (now_ns - allowance->since_ns >= UNWIND_COPY_INTERVAL) {
		allowance->since_ns = now_ns;
		if (allowance->bytes < most)
			allowance->bytes += filter.late_bytes;
	}
	if (allowance->bytes < filter.late_bytes || !is_ring_half_free(filter.late_bytes))
		return 0;
	allowance->bytes -= filter.late_bytes;
	return 1;
}

/* The copy that may_copy() has charged has only `bytes`. */
static __always_inline void settle_copy(__u32 tgid, __u64 bytes)
{
	struct unwind_allowance *allowance = allowance_of(tgid);

	if (bytes < UNWIND_LEAST_COPY)
		bytes = UNWIND_LEAST_COPY;
	if (allowance && allowance->tgid == tgid && bytes < filter.late_bytes)
		allowance->bytes += filter.late_bytes - bytes;
}

#endif
