/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The types of the kernel, with only the members that the programs read. They replace a generated
 * vmlinux.h. The structs are relocated when a program is loaded (CO-RE), so names matter and
 * offsets do not. User-space ABI (helper numbers, map types, registers) is fixed and not relocated.
 */
#ifndef PERFTAPE_BPF_KERNEL_TYPES_H
#define PERFTAPE_BPF_KERNEL_TYPES_H

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;

#define NULL ((void *)0)

/* For the prototypes in bpf_helper_defs.h. */
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

/* include/uapi/linux/bpf.h */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_CGROUP_ARRAY = 8,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
};

enum {
	BPF_F_NO_PREALLOC = 1U << 0,
	BPF_F_MMAPABLE = 1U << 10,
};

enum {
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1U << 0,
};

enum {
	BPF_F_USER_STACK = 1ULL << 8,
};

enum {
	BPF_RB_NO_WAKEUP = 1ULL << 0,
	BPF_RB_FORCE_WAKEUP = 1ULL << 1,
};

enum {
	BPF_RB_AVAIL_DATA = 0,
	BPF_RB_RING_SIZE = 1,
};

/* The header of a message in the ring. */
enum {
	BPF_RINGBUF_HDR_SZ = 8,
};

/*
 * arch/.../include/uapi/asm/{ptrace,bpf_perf_event}.h. A perf_event program reads the registers in
 * this layout, whatever the kernel's own is, and only in whole words. So they are not relocated.
 */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};
typedef struct pt_regs bpf_user_pt_regs_t;
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31];
	__u64 sp, pc, pstate;
};
typedef struct user_pt_regs bpf_user_pt_regs_t;
#else
#error "the registers of this architecture are not described here"
#endif

/* include/uapi/linux/bpf_perf_event.h */
struct bpf_perf_event_data {
	bpf_user_pt_regs_t regs;
	__u64 sample_period;
	__u64 addr;
};

/* enum perf_sample_regs_abi of include/uapi/linux/perf_event.h */
enum {
	PERF_SAMPLE_REGS_ABI_NONE,
	PERF_SAMPLE_REGS_ABI_32,
	PERF_SAMPLE_REGS_ABI_64,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

/* include/linux/ns_common.h, pid_namespace.h, pid.h */
struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1]; /* level + 1 of them, outermost first */
};

/* include/linux/sched/signal.h */
struct signal_struct {
	atomic_t live;	    /* threads that have not started to exit */
	unsigned int flags; /* SIGNAL_* */
};

/* include/linux/kernfs.h, cgroup-defs.h */
struct kernfs_node {
	__u64 id; /* the inode of the directory */
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self; /* its parents are the cgroups above, in version 2 */
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;	       /* of version 2 */
	struct cgroup_subsys_state *subsys[1]; /* one for each controller of the kernel */
};

/* include/linux/cred.h, uidgid_types.h */
typedef struct {
	unsigned int val;
} kuid_t;

struct cred {
	kuid_t uid;
};

/* arch/.../include/asm/thread_info.h */
struct thread_info {
	unsigned int status; /* of x86 */
	unsigned int cpu;    /* on x86 since Linux 5.16 */
};

/* include/linux/uprobes.h */
struct return_instance {
	unsigned long stack; /* the stack pointer at the entry of the function */
	unsigned long orig_ret_vaddr;
	struct return_instance *next; /* of an outer function */
};

struct uprobe_task {
	struct return_instance *return_instances;
	unsigned long vaddr;	 /* of the probed instruction */
	unsigned long xol_vaddr; /* of the copy that runs */
};

/* kernel/events/uprobes.c */
struct xol_area {
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

/* include/linux/mm_types.h */
struct mm_struct {
	struct uprobes_state uprobes_state;
};

/* include/linux/fs.h, dcache.h, mount.h, path.h, fdtable.h, fs/mount.h */
struct super_block {
	unsigned int s_dev;
};

struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
};

struct qstr {
	unsigned int len;
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent; /* itself, of the root of a file system */
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent; /* itself, of the root of the namespace */
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

/* include/linux/sched.h */
struct task_struct {
	struct thread_info thread_info;
	unsigned int __state; /* since Linux 5.14 */
	unsigned int flags;
	int on_cpu;
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct signal_struct *signal;
	struct css_set *cgroups;
	const struct cred *cred;
	char comm[16];
	unsigned int in_execve : 1;
	struct mm_struct *mm;
	struct files_struct *files;
	struct uprobe_task *utask; /* with CONFIG_UPROBES; null: no probe was ever hit */
};

/* include/net/sock.h, include/linux/net.h, include/linux/tcp.h */
struct in6_addr {
	__u8 bytes[16];
};

struct sock_common {
	unsigned short skc_family;
	__u16 skc_dport; /* in network order */
	__u32 skc_daddr;
	struct in6_addr skc_v6_daddr;
};

struct sock {
	struct sock_common __sk_common;
	int sk_err;
	__u16 sk_protocol; /* since Linux 5.6 */
};

struct socket {
	struct sock *sk;
};

struct tcp_sock {
	__u32 srtt_us; /* in eighths */
};

/* include/linux/blkdev.h, include/linux/blk-mq.h */
struct gendisk {
	int major;
	int first_minor;
};

struct request_queue {
	struct gendisk *disk; /* since Linux 5.15 */
};

struct request {
	struct request_queue *q;
	unsigned int __data_len;
	__u64 __sector;
};

/* References to a file beyond the first one since Linux 6.13 (include/linux/file_ref.h); before,
 * all. */
struct file___ref {
	struct {
		struct {
			__s64 counter;
		} refcnt;
	} f_ref;
};

struct file___count {
	struct {
		__s64 counter;
	} f_count;
};

struct request___old {
	struct gendisk *rq_disk; /* before Linux 5.17 */
};

#if defined(__TARGET_ARCH_arm64)
struct pt_regs___call {
	__u64 orig_x0; /* the first argument */
	int syscallno;
};
#endif

/* Before these versions. */
struct task_struct___old {
	long state;
	unsigned int cpu;
};

/* kernel/bpf/task_iter.c; `task` is null in the last call */
struct bpf_iter__task {
	struct task_struct *task;
};

/* include/linux/timerqueue.h, hrtimer_types.h */
struct timerqueue_node {
	__s64 expires;
};

struct hrtimer {
	struct timerqueue_node node;
};

/* include/linux/perf_event.h */
struct hw_perf_event {
	struct hrtimer hrtimer; /* of cpu-clock */
	__u64 interrupts_seq;	/* number of the tick at the last overflow */
	__u64 interrupts;	/* overflows since that tick; all ones: throttled */
};

struct perf_event {
	struct hw_perf_event hw;
};

struct bpf_perf_event_data_kern {
	struct perf_event *event;
};

#pragma clang attribute pop

#endif
