/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User stacks: copied, and walked by the kernel.
 *
 * A program that stores stacks defines USER_FRAMES, the most frames that one has, as less. It is a
 * mask.
 */
#ifndef PERFTAPE_BPF_USER_STACK_BPF_H
#define PERFTAPE_BPF_USER_STACK_BPF_H

#ifndef USER_FRAMES
#define USER_FRAMES WIRE_MAX_USER_FRAMES
#endif

#include "bpf/kernel_types.h"

#include <bpf/bpf_helpers.h>

#include "bpf/wire.h"

/* A copy of so many bytes, aligned, does not cross a page, whatever the size of pages is. */
#define STACK_STEP 4096

/* The largest stack. The verifier does not see that the last step is shorter. */
#define STACK_ROOM (WIRE_MAX_STACK + STACK_STEP)

/*
 * Copies up to `size` bytes of the current task's memory, from `sp` on, to `to`, which has room for
 * `size` and STACK_STEP more bytes. `size` is a constant, at most WIRE_MAX_STACK. Returns the
 * number of bytes copied. A read of several pages fails as a whole if one of them is absent, and
 * programs cannot wait for pages. So the copy is made page by page and ends at the first that is
 * absent, such as the end of the stack. With `other`, copies the memory of this task instead; only
 * a sleepable program can do that.
 *
 * `copied` is a word in a map. Of a number there the verifier knows nothing, so it does not check
 * the rest of the program for each number of pages.
 */
static __always_inline __u64 copy_stack(void *to, __u64 sp, __u64 size, struct task_struct *other,
					volatile __u64 *copied)
{
	__u64 done;
	__u64 step;
	long failed;
	__u32 i;

	*copied = 0;
	for (i = 0; i <= size / STACK_STEP + 1; i++) {
		done = *copied;
		if (done >= size)
			break;
		step = STACK_STEP - ((sp + done) & (STACK_STEP - 1));
		if (step > size - done)
			step = size - done;
		barrier_var(step);
		if (step > STACK_STEP)
			break; /* for the verifier */
		if (other)
			failed = bpf_copy_from_user_task(to + done, step, (const void *)(sp + done),
							 other, 0);
		else
			failed = bpf_probe_read_user(to + done, step, (const void *)(sp + done));
		if (failed)
			break;
		*copied = done + step;
	}
	done = *copied;
	return done > size ? size : done;
}

/*
 * Writes the frames of the kernel stack to `first`, without the first `skipped`. Returns their
 * number, at most WIRE_MAX_FRAMES; 0 if the walk fails.
 */
static __always_inline __u32 walk_kernel_frames(void *ctx, __u64 *first, __u64 skipped)
{
	long bytes = bpf_get_stack(ctx, first, WIRE_MAX_FRAMES * sizeof(__u64), skipped);

	return bytes > 0 ? (__u32)bytes / sizeof(__u64) : 0;
}

/* The same for frame pointers of the user stack; at most USER_FRAMES. A kernel thread has none. */
static __always_inline __u32 walk_frame_pointers(void *ctx, __u64 *first)
{
	long bytes = bpf_get_stack(ctx, first, USER_FRAMES * sizeof(__u64), BPF_F_USER_STACK);

	return bytes > 0 ? (__u32)bytes / sizeof(__u64) : 0;
}

#endif
