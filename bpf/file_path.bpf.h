/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file of a descriptor, and its path as /proc/PID/fd shows it. */
#ifndef PERFTAPE_BPF_FILE_PATH_BPF_H
#define PERFTAPE_BPF_FILE_PATH_BPF_H

#include "bpf/kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/wire.h"

#define PATH_BYTES WIRE_LATENCY_TEXT
#define PATH_MASK  255
#define MAX_DEPTH  40

/* include/uapi/linux/stat.h */
#define S_IFMT	 0170000
#define S_IFSOCK 0140000
#define S_IFIFO	 0010000

/*
 * A path is written from its end. No name is longer than the second half (NAME_MAX). The walk is
 * here, too, so that the verifier knows nothing of it and checks a step once.
 */
struct path_room {
	char bytes[2 * (PATH_MASK + 1)];
	struct dentry *dentry;
	struct dentry *root; /* of the mount */
	struct mount *mount;
	__u32 at; /* where the path begins in `bytes` */
	__u32 is_cut;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct path_room);
} path_rooms SEC(".maps");

/*
 * The file of a descriptor of the current task; null if there is none. Tracing programs load what
 * they can without a call of a helper, because this runs in many system calls.
 */
static __always_inline struct file *file_of(__u32 fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fdtable *table;
	struct file *file = NULL;

	if (!task->files)
		return NULL;
	table = task->files->fdt;
	if (table && fd < table->max_fds)
		bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
	return file;
}

/* Adds the name of the current directory and goes to its parent. Returns 0 at the root. */
__weak __noinline int add_name(__u32 room_number)
{
	struct path_room *room = bpf_map_lookup_elem(&path_rooms, &room_number);
	struct dentry *dentry, *parent;
	struct mount *mount, *outer;
	__u32 size, at;

	if (!room)
		return 0;
	dentry = room->dentry;
	mount = room->mount;
	parent = BPF_CORE_READ(dentry, d_parent);
	if (dentry == room->root || dentry == parent) {
		outer = BPF_CORE_READ(mount, mnt_parent);
		if (outer == mount || !outer)
			return 0;
		room->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		room->mount = outer;
		room->root = BPF_CORE_READ(outer, mnt.mnt_root);
		return 1;
	}
	at = room->at;
	size = BPF_CORE_READ(dentry, d_name.len) & PATH_MASK;
	if (size + 4 > at) {
		room->is_cut = 1;
		return 0;
	}
	at -= size;
	bpf_probe_read_kernel(room->bytes + (at & PATH_MASK), size,
			      BPF_CORE_READ(dentry, d_name.name));
	at--;
	room->bytes[at & PATH_MASK] = '/';
	room->at = at;
	room->dentry = parent;
	return 1;
}

/* Pipes, sockets and so on have no directory, but a number or a name. */
static __always_inline long write_unnamed(struct file *file, struct path_room *room)
{
	__u32 mode = BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT;
	__u64 inode = BPF_CORE_READ(file, f_inode, i_ino);
	struct dentry *dentry = BPF_CORE_READ(file, f_path.dentry);
	char name[32];
	long size;

	if (mode == S_IFIFO) {
		size = BPF_SNPRINTF(room->bytes, PATH_BYTES, "pipe:[%lu]", inode);
	} else if (mode == S_IFSOCK) {
		size = BPF_SNPRINTF(room->bytes, PATH_BYTES, "socket:[%lu]", inode);
	} else {
		if (bpf_probe_read_kernel_str(name, sizeof(name),
					      BPF_CORE_READ(dentry, d_name.name)) < 0)
			name[0] = '\0';
		size = BPF_SNPRINTF(room->bytes, PATH_BYTES, "anon_inode:%s", name);
	}
	room->at = 0;
	return size;
}

/*
 * Finds the path of a struct file, or its end after "...". Returns its size with a NUL; 0 if there
 * is none. copy_path() copies it.
 */
__weak __noinline int find_path(__u64 file_address)
{
	struct file *file = (struct file *)file_address;
	struct vfsmount *mounted = BPF_CORE_READ(file, f_path.mnt);
	__u32 zero = 0;
	struct path_room *room = bpf_map_lookup_elem(&path_rooms, &zero);
	__u32 i;

	if (!room)
		return 0;
	room->dentry = BPF_CORE_READ(file, f_path.dentry);
	room->root = BPF_CORE_READ(mounted, mnt_root);
	room->mount = (void *)mounted - bpf_core_field_offset(struct mount, mnt);
	room->at = PATH_BYTES - 1;
	room->is_cut = 0;
	room->bytes[PATH_BYTES - 1] = '\0';
	for (i = 0; i < MAX_DEPTH; i++)
		if (!add_name(zero))
			break;
	if (room->at == PATH_BYTES - 1)
		return write_unnamed(file, room);
	if (room->is_cut || i == MAX_DEPTH) {
		room->at -= 3;
		__builtin_memcpy(room->bytes + (room->at & PATH_MASK), "...", 3);
	}
	return PATH_BYTES - room->at;
}

/* Writes what find_path() found to `out`, which has room for PATH_MASK. Returns its size. */
static __always_inline __u32 copy_path(char *out, __u32 size)
{
	__u32 zero = 0;
	struct path_room *room = bpf_map_lookup_elem(&path_rooms, &zero);

	if (!room || size > PATH_BYTES)
		return 0;
	barrier_var(size);
	size &= PATH_MASK;
	bpf_probe_read_kernel(out, size, room->bytes + (room->at & PATH_MASK));
	return size;
}

#endif
