/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The user frames of 32-bit programs, which the kernel finds by frame pointers. */
#ifndef PERFTAPE_BPF_COMPAT_FRAMES_BPF_H
#define PERFTAPE_BPF_COMPAT_FRAMES_BPF_H

#include "bpf/common.bpf.h"
#include "bpf/unwind_state.bpf.h"
#include "bpf/unwind_wire.h"

/* Whether a frame is believed. The verifier follows this once, not for each frame. */
__weak __noinline int is_believed(__u64 pc)
{
	__u64 word;

	if (bpf_probe_read_user(&word, sizeof(word), (const void *)(pc - sizeof(word))) == 0 &&
	    wire_ends_with_call(word))
		return 1;
	return bpf_probe_read_user(&word, sizeof(word), (const void *)pc) == 0 &&
	       wire_is_sigreturn_32(word);
}

/*
 * Of a 32-bit program there are no tables, and its frame pointer may be any number. So the frames
 * that the kernel has found by it (in the state) are believed up to the first that follows no call
 * and is no trampoline of a signal. Returns their number. The calls of 32-bit ARM are not known.
 */
__weak __noinline int believed_frames(__u32 slot, __u32 count)
{
	struct unwind_state *state;
	__u32 i;

	if (filter.callchain != WIRE_CHAIN_UNWIND)
		return 0;
	state = bpf_map_lookup_elem(&unwind_states, &slot);
	if (!state)
		return 0;
#if !defined(__TARGET_ARCH_x86)
	return count;
#endif
	for (i = 1; i < USER_FRAMES && i < count; i++) {
		if (!is_believed(state->frames[i]))
			break;
	}
	return i;
}

#endif
