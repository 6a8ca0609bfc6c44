/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Latency of TCP: connections that are made and accepted, and round-trip times. The state of a
 * socket changes in an interrupt or in any task, so the caller is stored with the socket.
 */
#include "bpf/latency_begin.bpf.h"
#include "bpf/file_path.bpf.h"
#include "bpf/sockets.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* include/net/tcp_states.h */
#define TCP_ESTABLISHED 1
#define TCP_SYN_SENT	2
#define TCP_SYN_RECV	3
#define TCP_CLOSE	7

#define ECONNABORTED 103

#define RTT_INTERVAL_NS 100000000ULL

/* Sockets that connect. */
struct connecting {
	struct latency_begin begin; /* first: forget_earlier() */
	__u8 peer[28];
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1); /* user space sets the number of entries, as of all maps here */
	__type(key, __u64);	/* address of the socket, too */
	__type(value, struct connecting);
} connects SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct connecting);
} new_connects SEC(".maps");

/* When a connection that nobody has accepted yet was established. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u64);
} unaccepted SEC(".maps");

/*
 * Whether a connection has found no room there. Nobody knows then who will accept it, so it is
 * counted when it is accepted.
 */
__u32 is_unaccepted_full;

/* Whose socket it is, and when its round-trip time was read. */
struct owner {
	struct latency_begin begin; /* first: forget_earlier() */
	__u64 read_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct owner);
} owners SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct owner);
} new_owners SEC(".maps");

static __always_inline int is_recorded(__u32 slot)
{
	return probe_of(slot)->event != WIRE_NO_EVENT;
}

static __always_inline void add_owner(void *ctx, __u64 key, const struct task_ids *ids)
{
	__u32 zero = 0;
	struct owner *owner = bpf_map_lookup_elem(&new_owners, &zero);
	struct wire_cpu *cpu = counters_of_slot(WIRE_LATENCY_TCP_RTT);

	if (!owner || !cpu)
		return;
	store_begin(ctx, &owner->begin, ids, bpf_ktime_get_ns());
	owner->read_ns = 0;
	if (bpf_map_update_elem(&owners, &key, owner, BPF_ANY) != 0) {
		cpu->no_begin++;
		forget_begin(&owner->begin);
	}
}

static __always_inline void begin_connect(void *ctx, struct sock *sk, __u64 key)
{
	__u32 zero = 0;
	struct connecting *new = bpf_map_lookup_elem(&new_connects, &zero);
	struct wire_cpu *cpu = counters_of_slot(WIRE_LATENCY_TCP_CONNECT);
	struct task_ids ids = fast_ids();

	/* The kernel does not run a program within itself, so on_state can miss a change. */
	forget_earlier(&connects, &key);
	if (!new || !cpu || !is_wanted(ids.tgid, ids.tid))
		return;
	read_peer(sk, new->peer);
	store_begin(ctx, &new->begin, &ids, bpf_ktime_get_ns());
	if (bpf_map_update_elem(&connects, &key, new, BPF_ANY) != 0) {
		cpu->no_begin++;
		forget_begin(&new->begin);
	}
}

static __always_inline void count_connect(struct sock *sk, struct wire_cpu *cpu,
					  struct connecting *ended, int state)
{
	struct latency_end end = {.slot = WIRE_LATENCY_TCP_CONNECT};
	struct wire_latency_raw *raw;
	struct full_sample *full;

	end.now_ns = bpf_ktime_get_ns();
	end.period_ns = end.now_ns - ended->begin.start_ns;
	if (state == TCP_CLOSE) {
		end.error = BPF_CORE_READ(sk, sk_err);
		if (!end.error)
			end.error = ECONNABORTED; /* the program closed it */
	}
	cpu->overflows++;
	cpu->wanted++;
	if (!count_call(&end, &ended->begin.caller))
		return;
	full = scratch_sample(cpu);
	if (!full)
		return;
	raw = start_raw(full, &end, ended->begin.caller.tid);
	__builtin_memcpy(raw->peer, ended->peer, sizeof(raw->peer));
	send_begun(full, cpu, &ended->begin, &end, RAW_HEAD_WORDS);
}

/* The call is over also if this CPU is not recorded. */
static __always_inline void end_connect(struct sock *sk, __u64 key, int state)
{
	struct connecting *ended = bpf_map_lookup_elem(&connects, &key);
	struct wire_cpu *cpu = counters_of_slot(WIRE_LATENCY_TCP_CONNECT);

	if (!ended)
		return;
	if (cpu)
		count_connect(sk, cpu, ended, state);
	forget_begin(&ended->begin);
	bpf_map_delete_elem(&connects, &key);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_state, struct sock *sk, int before, int after)
{
	__u64 key = (__u64)sk;
	int begins = before == TCP_CLOSE && after == TCP_SYN_SENT;
	__u64 now_ns;
	struct task_ids ids;

	if (BPF_CORE_READ(sk, sk_protocol) != IPPROTO_TCP)
		return 0;
	if (is_recorded(WIRE_LATENCY_TCP_CONNECT)) {
		if (begins)
			begin_connect(ctx, sk, key);
		else if (before == TCP_SYN_SENT)
			end_connect(sk, key, after);
	}
	if (is_recorded(WIRE_LATENCY_TCP_RTT)) {
		ids = fast_ids();
		if (begins || after == TCP_CLOSE)
			forget_earlier(&owners, &key);
		if (begins && is_wanted(ids.tgid, ids.tid))
			add_owner(ctx, key, &ids);
	}
	if (!is_recorded(WIRE_LATENCY_TCP_ACCEPT))
		return 0;
	if (before == TCP_SYN_RECV && after == TCP_ESTABLISHED) {
		now_ns = bpf_ktime_get_ns();
		if (bpf_map_update_elem(&unaccepted, &key, &now_ns, BPF_ANY) != 0)
			is_unaccepted_full = 1;
	} else if (after == TCP_CLOSE) {
		bpf_map_delete_elem(&unaccepted, &key);
	}
	return 0;
}

static __always_inline void count_accept(void *ctx, struct sock *sk, __u64 start_ns,
					 const struct task_ids *ids)
{
	struct wire_cpu *cpu = counters_of_slot(WIRE_LATENCY_TCP_ACCEPT);
	struct latency_end end = {.slot = WIRE_LATENCY_TCP_ACCEPT};
	struct sample_origin origin = {.mode = WIRE_MODE_USER};
	struct caller caller = {.tgid = ids->tgid, .tid = ids->tid};
	struct wire_latency_raw *raw;
	struct full_sample *full;

	if (!cpu)
		return;
	if (!start_ns) {
		/* Or it was established before the recording. */
		if (is_unaccepted_full)
			cpu->no_begin++;
		return;
	}
	end.now_ns = bpf_ktime_get_ns();
	end.period_ns = end.now_ns - start_ns;
	caller.cgroup = loaded_cgroup_of(bpf_get_current_task_btf());
	cpu->overflows++;
	cpu->wanted++;
	if (!count_call(&end, &caller))
		return;
	full = scratch_sample(cpu);
	if (!full)
		return;
	raw = start_raw(full, &end, ids->tid);
	read_peer(sk, raw->peer);
	origin.event = probe_of(WIRE_LATENCY_TCP_ACCEPT)->event;
	origin.raw_words = RAW_HEAD_WORDS;
	origin.period = end.period_ns;
	origin.now_ns = end.now_ns;
	bpf_get_stack(ctx, &origin.ip, sizeof(origin.ip), BPF_F_USER_STACK);
	send_sample_in(full, ctx, cpu, &origin, ids);
}

/* The connection is in the queue no longer. Returns when it was established; 0: that is unknown. */
static __always_inline __u64 end_queueing(__u64 key)
{
	__u64 *start_ns = bpf_map_lookup_elem(&unaccepted, &key);
	__u64 established_ns = start_ns ? *start_ns : 0;

	if (start_ns)
		bpf_map_delete_elem(&unaccepted, &key);
	return established_ns;
}

/* accept and accept4 return the connection. on_exit of latency_calls.bpf.c goes on here. */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_accepted, struct pt_regs *regs, long result)
{
	struct task_ids ids = fast_ids();
	struct sock *sk = sock_of(result);
	__u64 key = (__u64)sk;
	__u64 start_ns = 0;

	if (!sk || BPF_CORE_READ(sk, sk_protocol) != IPPROTO_TCP)
		return 0;
	/* Also if the task is not recorded: its connections need no room from here on. */
	if (is_recorded(WIRE_LATENCY_TCP_ACCEPT))
		start_ns = end_queueing(key);
	if (is_recorded(WIRE_LATENCY_TCP_RTT))
		forget_earlier(&owners, &key);
	if (!is_wanted(ids.tgid, ids.tid))
		return 0;
	if (is_recorded(WIRE_LATENCY_TCP_ACCEPT))
		count_accept(ctx, sk, start_ns, &ids);
	if (is_recorded(WIRE_LATENCY_TCP_RTT))
		add_owner(ctx, key, &ids);
	return 0;
}

/* A segment was received. */
SEC("tp_btf/tcp_probe")
int BPF_PROG(on_segment, struct sock *sk)
{
	__u64 key = (__u64)sk;
	struct owner *owner = bpf_map_lookup_elem(&owners, &key);
	struct wire_cpu *cpu = counters_of_slot(WIRE_LATENCY_TCP_RTT);
	struct latency_end end = {.slot = WIRE_LATENCY_TCP_RTT};
	struct wire_latency_raw *raw;
	struct full_sample *full;
	__u32 eighths_us;

	if (!owner || !cpu)
		return 0;
	end.now_ns = bpf_ktime_get_ns();
	if (owner->read_ns && end.now_ns - owner->read_ns < RTT_INTERVAL_NS)
		return 0;
	eighths_us = BPF_CORE_READ((struct tcp_sock *)sk, srtt_us);
	if (!eighths_us)
		return 0;
	owner->read_ns = end.now_ns;
	end.period_ns = eighths_us * 125ULL;
	cpu->overflows++;
	cpu->wanted++;
	if (!count_call(&end, &owner->begin.caller))
		return 0;
	full = scratch_sample(cpu);
	if (!full)
		return 0;
	raw = start_raw(full, &end, owner->begin.caller.tid);
	read_peer(sk, raw->peer);
	send_begun(full, cpu, &owner->begin, &end, RAW_HEAD_WORDS);
	return 0;
}
