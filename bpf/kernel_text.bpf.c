/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looks up the symbols that bound the kernel's text. The recorder runs it once, because reading
 * /proc/kallsyms up to _etext takes 40 ms.
 */
#include "bpf/kernel_types.h"
#include "bpf/wire.h"

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The helper sets the address to 0 if it fails. */
#define ADDRESS_OF(symbol)                                                                         \
	({                                                                                         \
		const char name[] = symbol;                                                        \
		__u64 address = 0;                                                                 \
		bpf_kallsyms_lookup_name(name, sizeof(name), 0, &address);                         \
		address;                                                                           \
	})

SEC("syscall")
int find_kernel_text(struct wire_kernel_text *found)
{
	found->text = ADDRESS_OF("_text");
	found->stext = ADDRESS_OF("_stext");
	found->etext = ADDRESS_OF("_etext");
	found->sched_text = ADDRESS_OF("__sched_text_start");
	found->sched_text_end = ADDRESS_OF("__sched_text_end");
	found->schedule = ADDRESS_OF("schedule");
	return 0;
}
