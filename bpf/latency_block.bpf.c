/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Latency of requests to block devices. A request completes in an interrupt or in any task, so its
 * caller is stored with the request at its issue. Written pages are issued by threads of the
 * kernel.
 */
#include "bpf/latency_begin.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct io_request {
	struct latency_begin begin; /* first: forget_earlier() */
	__u64 sector;
	__u32 bytes;
	__u32 dev;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1); /* user space sets the number of entries */
	__type(key, __u64);	/* address of the request */
	__type(value, struct io_request);
} requests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct io_request);
} new_requests SEC(".maps");

/* include/linux/kdev_t.h */
#define MINOR_BITS 20

static __always_inline __u32 device_of(struct request *request)
{
	struct request___old *old = (void *)request;
	struct gendisk *disk;

	if (bpf_core_field_exists(old->rq_disk))
		disk = BPF_CORE_READ(old, rq_disk);
	else
		disk = BPF_CORE_READ(request, q, disk);
	if (!disk)
		return 0;
	return BPF_CORE_READ(disk, major) << MINOR_BITS | BPF_CORE_READ(disk, first_minor);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_issue, struct request *request)
{
	struct wire_cpu *cpu = counters_of_slot(WIRE_LATENCY_BLOCK_IO);
	struct task_ids ids = fast_ids();
	__u64 key = (__u64)request;
	__u32 zero = 0;
	struct io_request *new;

	forget_earlier(&requests, &key); /* or it is issued again */
	if (!cpu || !is_wanted(ids.tgid, ids.tid))
		return 0;
	new = bpf_map_lookup_elem(&new_requests, &zero);
	if (!new)
		return 0;
	new->sector = BPF_CORE_READ(request, __sector);
	new->bytes = BPF_CORE_READ(request, __data_len);
	new->dev = device_of(request);
	store_begin(ctx, &new->begin, &ids, bpf_ktime_get_ns());
	if (bpf_map_update_elem(&requests, &key, new, BPF_ANY) != 0) {
		cpu->no_begin++;
		forget_begin(&new->begin);
	}
	return 0;
}

/* The errno of a blk_status_t (block/blk-core.c, blk_errors). Before Linux 5.16 it is the errno. */
static __always_inline __u32 errno_of(__s32 status)
{
	if (status <= 0)
		return -status;
	switch ((__u8)status) {
	case 1:
		return 95; /* EOPNOTSUPP */
	case 2:
		return 110; /* ETIMEDOUT */
	case 3:
		return 28; /* ENOSPC */
	case 4:
		return 67; /* ENOLINK */
	case 5:
		return 121; /* EREMOTEIO */
	case 6:
		return 52; /* EBADE */
	case 7:
		return 61; /* ENODATA */
	case 8:
		return 84; /* EILSEQ */
	case 9:
		return 12; /* ENOMEM */
	case 13:
		return 16; /* EBUSY */
	}
	return 5; /* EIO */
}

static __always_inline void send_request(struct wire_cpu *cpu, struct io_request *ended,
					 const struct latency_end *end)
{
	struct full_sample *full = scratch_sample(cpu);
	struct wire_latency_raw *raw;

	if (!full)
		return;
	raw = start_raw(full, end, ended->begin.caller.tid);
	raw->number = ended->sector;
	raw->bytes = ended->bytes;
	raw->dev = ended->dev;
	send_begun(full, cpu, &ended->begin, end, RAW_HEAD_WORDS);
}

static __always_inline void count_request(struct wire_cpu *cpu, struct io_request *ended,
					  __u32 error)
{
	struct latency_end end = {.slot = WIRE_LATENCY_BLOCK_IO, .error = error};

	end.now_ns = bpf_ktime_get_ns();
	end.period_ns = end.now_ns - ended->begin.start_ns;
	cpu->overflows++;
	cpu->wanted++;
	if (count_call(&end, &ended->begin.caller))
		send_request(cpu, ended, &end);
}

/* The request is over also if this CPU is not recorded. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_complete, struct request *request, int status, unsigned int bytes)
{
	struct wire_cpu *cpu = counters_of_slot(WIRE_LATENCY_BLOCK_IO);
	__u64 key = (__u64)request;
	struct io_request *ended = bpf_map_lookup_elem(&requests, &key);

	if (!ended)
		return 0;
	/* A part of it: the rest follows. */
	if (!status && bytes < BPF_CORE_READ(request, __data_len))
		return 0;
	if (cpu)
		count_request(cpu, ended, errno_of(status));
	forget_begin(&ended->begin);
	bpf_map_delete_elem(&requests, &key);
	return 0;
}
