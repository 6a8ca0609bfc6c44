/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Latency of DNS over UDP: from the system call that sends a query to port 53 until a system call
 * returns its answer. They are matched by the socket and the id of the query (RFC 1035, 4.1.1). A
 * query without an answer ends when its id is sent again, when its socket is closed, or after a
 * minute: the end of a process closes sockets without a system call.
 */
#include "bpf/latency_begin.bpf.h"
#include "bpf/file_path.bpf.h"
#include "bpf/last_query.bpf.h"
#include "bpf/sockets.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define DNS_PORT     0x3500 /* 53 in network order */
#define DNS_HEADER   12
#define DNS_RESPONSE 0x80
#define DNS_NAME     160
#define MAX_LABELS   24
#define MAX_MESSAGES 4 /* of sendmmsg and recvmmsg */
#define MAX_IDS	     8 /* that are remembered of a socket, a power of two */
#define ETIMEDOUT    110

/* A minute or more: no kernel has more than 1,000 jiffies in a second. */
#define ANSWER_JIFFIES 60000
#define ANSWER_NS      60000000000ULL

/* Between two searches for old queries. */
#define SEARCH_NS 10000000000ULL

struct query_key {
	__u64 sk;
	__u64 id;
};

struct query {
	struct latency_begin begin;
	__u8 peer[28];
	__u32 name_size; /* with its NUL */
	char name[DNS_NAME + 256];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1); /* user space sets the number of entries */
	__type(key, struct query_key);
	__type(value, struct query);
} queries SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct query);
} new_queries SEC(".maps");

/* The last ids that were sent on a socket. */
struct asked {
	__u64 last_ns;	    /* when the last one was sent */
	__u32 ids[MAX_IDS]; /* plus 1 */
	__u32 sent;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1); /* the same */
	__type(key, __u64);	/* address of the socket */
	__type(value, struct asked);
} asked_by_socket SEC(".maps");

/* When old queries were last searched for. */
__u64 searched_ns;

/* Nobody waits longer for an answer, so calls that receive need no look at their sockets then. */
static __always_inline int waits_for_answers(void)
{
	__u64 *sent = last_query_jiffies();

	return sent && *sent && bpf_jiffies64() - *sent < ANSWER_JIFFIES;
}

/* The begin of struct user_msghdr, include/linux/socket.h. */
struct message {
	__u64 name;
	__u64 name_size;
	__u64 buffers;
};

/* sizeof(struct mmsghdr), which begins with one */
#define MMSGHDR_SIZE 64

static __always_inline __u64 first_buffer(const struct message *message)
{
	__u64 base = 0;

	bpf_probe_read_user(&base, sizeof(base), (const void *)message->buffers);
	return base;
}

/*
 * Not inlined, as other functions here, because before Linux 6.13 the stacks of a function and
 * those that it calls have 512 bytes together.
 */
static __noinline int count_query(struct wire_cpu *cpu, struct query *query, __u32 error,
				  __u64 now_ns)
{
	struct latency_end end = {.slot = WIRE_LATENCY_DNS, .error = error, .now_ns = now_ns};
	struct wire_latency_raw *raw;
	struct full_sample *full;
	__u64 size; /* in 64 bits the verifier keeps its bound */

	end.period_ns = now_ns - query->begin.start_ns;
	cpu->overflows++;
	cpu->wanted++;
	full = count_call(&end, &query->begin.caller) ? scratch_sample(cpu) : NULL;
	if (full) {
		raw = start_raw(full, &end, query->begin.caller.tid);
		__builtin_memcpy(raw->peer, query->peer, sizeof(raw->peer));
		size = query->name_size;
		barrier_var(size);
		if (size > DNS_NAME)
			size = DNS_NAME;
		bpf_probe_read_kernel(raw->text, size, query->name);
		send_begun(full, cpu, &query->begin, &end, words_with_text(raw, size));
	}
	return 0;
}

/* The query is over also if this CPU is not recorded. */
static __noinline int end_query(const struct query_key *key, __u32 error, __u64 now_ns)
{
	struct query *query = bpf_map_lookup_elem(&queries, key);
	struct wire_cpu *cpu = counters_of_slot(WIRE_LATENCY_DNS);

	if (!query)
		return 0;
	if (cpu)
		count_query(cpu, query, error, now_ns);
	forget_begin(&query->begin);
	bpf_map_delete_elem(&queries, key);
	return 0;
}

/* Reads the name after the header as "www.example.com", of labels that begin with their size. */
static __always_inline void read_name(struct query *query, __u64 payload)
{
	long size = bpf_probe_read_user_str(query->name, DNS_NAME,
					    (const void *)(payload + DNS_HEADER + 1));
	__u8 label = 0;
	__u32 at;
	__u32 i;

	query->name_size = size > 0 && size <= DNS_NAME ? size : 0;
	if (!query->name_size)
		return;
	bpf_probe_read_user(&label, sizeof(label), (const void *)(payload + DNS_HEADER));
	at = label;
	for (i = 0; i < MAX_LABELS; i++) {
		barrier_var(at);
		if (at >= DNS_NAME)
			break;
		label = query->name[at];
		if (!label)
			break;
		query->name[at] = '.';
		at += 1 + label;
	}
}

/* Returns 0 if there is no room. */
static __noinline int remember_id(__u64 sk, __u32 id, __u64 now_ns)
{
	struct asked *asked = bpf_map_lookup_elem(&asked_by_socket, &sk);
	struct asked empty = {};
	__u32 sent;

	if (!asked) {
		bpf_map_update_elem(&asked_by_socket, &sk, &empty, BPF_NOEXIST);
		asked = bpf_map_lookup_elem(&asked_by_socket, &sk);
		if (!asked)
			return 0;
	}
	asked->last_ns = now_ns;
	sent = asked->sent++;
	barrier_var(sent);
	asked->ids[sent & (MAX_IDS - 1)] = id + 1;
	return 1;
}

/* A function that the verifier checks once for each caller. */
static __noinline int begin_query(void *ctx, __u64 socket, __u64 payload, __u64 address)
{
	struct sock *sk = (struct sock *)socket;
	struct task_ids ids = fast_ids();
	struct query_key key = {.sk = socket};
	struct wire_cpu *cpu = counters_of_slot(WIRE_LATENCY_DNS);
	__u16 port = BPF_CORE_READ(sk, __sk_common.skc_dport);
	__u32 zero = 0;
	struct query *query = bpf_map_lookup_elem(&new_queries, &zero);
	__u8 header[4] = {};
	__u64 *sent;
	__u64 now_ns;

	if (!query)
		return 0;
	if (address)
		bpf_probe_read_user(&port, sizeof(port), (const void *)(address + 2));
	if (port != DNS_PORT)
		return 0;
	if (bpf_probe_read_user(header, sizeof(header), (const void *)payload) != 0 ||
	    (header[2] & DNS_RESPONSE))
		return 0;
	now_ns = bpf_ktime_get_ns();
	key.id = header[0] << 8 | header[1];
	end_query(&key, ETIMEDOUT, now_ns); /* if it was asked before */
	if (!cpu || !is_wanted(ids.tgid, ids.tid))
		return 0;
	read_peer(sk, query->peer);
	if (address) {
		__builtin_memset(query->peer, 0, sizeof(query->peer));
		if (bpf_probe_read_user(query->peer, 28, (const void *)address) != 0)
			bpf_probe_read_user(query->peer, 16, (const void *)address);
	}
	read_name(query, payload);
	store_begin(ctx, &query->begin, &ids, now_ns);
	if (!remember_id(socket, key.id, now_ns) ||
	    bpf_map_update_elem(&queries, &key, query, BPF_ANY) != 0) {
		cpu->no_begin++;
		forget_begin(&query->begin);
		return 0;
	}
	sent = last_query_jiffies();
	if (sent)
		*sent = bpf_jiffies64();
	return 0;
}

static __noinline int end_answer(__u64 socket, __u64 payload)
{
	struct query_key key = {.sk = socket};
	__u8 header[4] = {};

	if (bpf_probe_read_user(header, sizeof(header), (const void *)payload) != 0 ||
	    !(header[2] & DNS_RESPONSE))
		return 0;
	key.id = header[0] << 8 | header[1];
	end_query(&key, header[3] & 15, bpf_ktime_get_ns());
	return 0;
}

/* The answers of recvmmsg, which has received so many. */
static __noinline int end_answers(__u64 sk, __u64 address, __u64 count)
{
	struct message message = {};
	__u32 i;

	for (i = 0; i < MAX_MESSAGES && i < count; i++) {
		bpf_probe_read_user(&message, sizeof(message),
				    (const void *)(address + i * MMSGHDR_SIZE));
		end_answer(sk, first_buffer(&message));
	}
	return 0;
}

static __always_inline void begin_message(void *ctx, __u64 sk, __u64 address)
{
	struct message message = {};

	if (bpf_probe_read_user(&message, sizeof(message), (const void *)address) == 0)
		begin_query(ctx, sk, first_buffer(&message), message.name);
}

static __noinline int begin_messages(void *ctx, __u64 sk, __u64 address, __u64 count)
{
	__u32 i;

	for (i = 0; i < MAX_MESSAGES && i < count; i++)
		begin_message(ctx, sk, address + i * MMSGHDR_SIZE);
	return 0;
}

/* Which queries have no answer any more: those of a socket, or all that are old. */
struct search {
	__u64 sk; /* 0: all */
	__u64 now_ns;
};

/* A query can begin after this search, on another CPU. */
static __always_inline int is_old(__u64 since_ns, const struct search *search)
{
	return (__s64)(search->now_ns - since_ns) > (__s64)ANSWER_NS;
}

static long end_if_over(void *map, struct query_key *key, struct query *query,
			struct search *search)
{
	struct query_key ended = *key;

	if (search->sk ? ended.sk == search->sk : is_old(query->begin.start_ns, search))
		end_query(&ended, ETIMEDOUT, search->now_ns);
	return 0;
}

static long forget_if_old(void *map, __u64 *sk, struct asked *asked, struct search *search)
{
	__u64 key = *sk;

	if (is_old(asked->last_ns, search))
		bpf_map_delete_elem(&asked_by_socket, &key);
	return 0;
}

/* Frees the room of queries whose process has ended. */
static __noinline int end_old_queries(void)
{
	struct search search = {.now_ns = bpf_ktime_get_ns()};
	__u64 before_ns = searched_ns;

	if (search.now_ns - before_ns < SEARCH_NS ||
	    __sync_val_compare_and_swap(&searched_ns, before_ns, search.now_ns) != before_ns)
		return 0;
	bpf_for_each_map_elem(&queries, end_if_over, &search, 0);
	bpf_for_each_map_elem(&asked_by_socket, forget_if_old, &search, 0);
	return 0;
}

/* Whether nothing but this descriptor refers to its file: no copy of it, and no call that runs. */
static __always_inline int is_only_reference(__u32 fd)
{
	struct file *file = file_of(fd);
	struct file___ref *since_6_13 = (void *)file;

	if (bpf_core_field_exists(since_6_13->f_ref))
		return BPF_CORE_READ(since_6_13, f_ref.refcnt.counter) == 0;
	return BPF_CORE_READ((struct file___count *)file, f_count.counter) == 1;
}

static __noinline int close_socket(__u64 sk)
{
	struct asked *asked = bpf_map_lookup_elem(&asked_by_socket, &sk);
	struct query_key key = {.sk = sk};
	struct search search = {.sk = sk, .now_ns = bpf_ktime_get_ns()};
	__u32 i;

	if (!asked)
		return 0;
	if (asked->sent > MAX_IDS)
		bpf_for_each_map_elem(&queries, end_if_over, &search, 0);
	for (i = 0; i < MAX_IDS; i++) {
		if (!asked->ids[i])
			continue;
		key.id = asked->ids[i] - 1;
		end_query(&key, ETIMEDOUT, search.now_ns);
	}
	bpf_map_delete_elem(&asked_by_socket, &sk);
	return 0;
}

/* Whether a message may be a query: it asks no more than one question (RFC 1035, 4.1.1). */
static __always_inline int may_be_query(__u64 payload, __u64 size)
{
	__u8 header[6];

	return size >= DNS_HEADER &&
	       bpf_probe_read_user(header, sizeof(header), (const void *)payload) == 0 &&
	       !(header[2] & DNS_RESPONSE) && header[4] == 0 && header[5] <= 1;
}

/* The address of the UDP socket of a descriptor; 0 if it is none. */
static __always_inline __u64 udp_socket_of(__u32 fd)
{
	struct sock *sk = sock_of(fd);

	return sk && BPF_CORE_READ(sk, sk_protocol) == IPPROTO_UDP ? (__u64)sk : 0;
}

/* on_enter and on_exit of latency_calls.bpf.c go on here. */
SEC("tp_btf/sys_enter")
int BPF_PROG(on_dns_enter, struct pt_regs *regs, long nr)
{
	__u32 kind = call_settings(nr)->dns;
	__u64 *sent = last_query_jiffies();
	__u64 arguments[6] = {};
	__u64 key;

	if (kind == WIRE_DNS_CLOSE && !(sent && *sent))
		return 0;
	all_arguments(regs, arguments);
	if ((kind == WIRE_DNS_SEND || kind == WIRE_DNS_SEND_TO) &&
	    !may_be_query(arguments[1], arguments[2]))
		return 0;
	key = udp_socket_of(arguments[0]);
	if (!key)
		return 0;
	if (kind != WIRE_DNS_CLOSE)
		end_old_queries();
	switch (kind) {
	case WIRE_DNS_SEND:
		begin_query(ctx, key, arguments[1], 0);
		break;
	case WIRE_DNS_SEND_TO:
		begin_query(ctx, key, arguments[1], arguments[4]);
		break;
	case WIRE_DNS_SEND_MESSAGE:
		begin_messages(ctx, key, arguments[1], 1);
		break;
	case WIRE_DNS_SEND_MESSAGES:
		begin_messages(ctx, key, arguments[1], arguments[2]);
		break;
	case WIRE_DNS_CLOSE:
		if (is_only_reference(arguments[0]))
			close_socket(key);
		break;
	}
	return 0;
}

/* The arguments of a call are still in the registers, or in user memory, when it returns. */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_dns_exit, struct pt_regs *regs, long result)
{
	__u32 kind = call_settings(call_of(regs))->dns;
	__u64 arguments[6] = {};
	struct message message = {};
	__u64 key;

	if (!waits_for_answers())
		return 0;
	arguments_of_ended(regs, arguments);
	key = udp_socket_of(arguments[0]);
	if (!key)
		return 0;
	switch (kind) {
	case WIRE_DNS_RECEIVE:
		if (result >= DNS_HEADER)
			end_answer(key, arguments[1]);
		break;
	case WIRE_DNS_RECEIVE_MESSAGE:
		if (result >= DNS_HEADER &&
		    bpf_probe_read_user(&message, sizeof(message), (const void *)arguments[1]) == 0)
			end_answer(key, first_buffer(&message));
		break;
	case WIRE_DNS_RECEIVE_MESSAGES:
		end_answers(key, arguments[1], result);
		break;
	}
	return 0;
}
