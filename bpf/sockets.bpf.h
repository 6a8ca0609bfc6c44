/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sockets: their peers, and those of descriptors; the number of the current system call. */
#ifndef PERFTAPE_BPF_SOCKETS_BPF_H
#define PERFTAPE_BPF_SOCKETS_BPF_H

#include "bpf/kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/file_path.bpf.h"

/* include/linux/socket.h, include/uapi/linux/in.h */
#define AF_INET	    2
#define AF_INET6    10
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17

/* Writes the peer as a sockaddr_in or sockaddr_in6; all zero for another family. */
static __always_inline void read_peer(struct sock *sk, __u8 *peer)
{
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	__u16 port = BPF_CORE_READ(sk, __sk_common.skc_dport);

	__builtin_memset(peer, 0, 28);
	if (family != AF_INET && family != AF_INET6)
		return;
	__builtin_memcpy(peer, &family, sizeof(family));
	__builtin_memcpy(peer + 2, &port, sizeof(port));
	if (family == AF_INET)
		BPF_CORE_READ_INTO((__u32 *)(peer + 4), sk, __sk_common.skc_daddr);
	else
		bpf_core_read(peer + 8, 16, &sk->__sk_common.skc_v6_daddr);
}

/* The socket of a descriptor of the current task; null if it is none. */
static __always_inline struct sock *sock_of(__u32 fd)
{
	struct file *file = file_of(fd);
	struct socket *socket;

	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return NULL;
	socket = BPF_CORE_READ(file, private_data);
	return BPF_CORE_READ(socket, sk);
}

/* The six arguments of a system call that begins. */
#if defined(__TARGET_ARCH_x86)
static __always_inline void all_arguments(const struct pt_regs *regs, __u64 *arguments)
{
	arguments[0] = regs->di;
	arguments[1] = regs->si;
	arguments[2] = regs->dx;
	arguments[3] = regs->r10;
	arguments[4] = regs->r8;
	arguments[5] = regs->r9;
}
#else
static __always_inline void all_arguments(const struct pt_regs *regs, __u64 *arguments)
{
	bpf_probe_read_kernel(arguments, 6 * sizeof(__u64), regs);
}
#endif

/* The same of a call that returns. Its result is in the register of the first argument of arm64. */
static __always_inline void arguments_of_ended(const struct pt_regs *regs, __u64 *arguments)
{
	all_arguments(regs, arguments);
#if defined(__TARGET_ARCH_arm64)
	arguments[0] = ((const struct pt_regs___call *)regs)->orig_x0;
#endif
}

/* The number of the system call that the current task is in. */
static __always_inline __u32 call_of(const struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	return regs->orig_ax;
#else
	return ((const struct pt_regs___call *)regs)->syscallno;
#endif
}

#endif
