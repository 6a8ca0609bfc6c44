// SPDX-License-Identifier: Apache-2.0
// A probe as the user writes it. The syntax is bpftrace's (man bpftrace, "Probes"):
//
//   uprobe:/usr/bin/ls:main      uprobe:libc:malloc+4    uretprobe:libc.so.6:malloc
//   usdt:libstdc++:libstdcxx:throw                       uprobe:python3:_PyEval_*
//   kprobe:vfs_read+8            kretprobe:vfs_read      fentry:vfs_read   fexit:vfs_read
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/base/result.h"

namespace perftape::record {

enum class ProbeKind : std::uint8_t {
  kUprobe,
  kUretprobe,
  kUsdt,
  kKprobe,
  kKretprobe,
  kFentry,
  kFexit,
};

struct ProbeSpec {
  ProbeKind kind = ProbeKind::kUprobe;
  std::string file = {};      // as written; empty: the kernel
  std::string provider = {};  // of USDT
  std::string symbol = {};    // a function, or the name of a USDT probe
  std::uint64_t offset = 0;   // from the start of the function
};

struct ProbeUsage {
  ProbeKind kind;
  std::string_view word;     // "uprobe"
  std::string_view usage;    // "uprobe:PATH:FUNCTION[+OFFSET]"
  int components;            // after the word
  std::string_view meaning;  // of one hit
};

// Returns the syntax of all kinds, in the order of ProbeKind.
std::span<const ProbeUsage> ProbeUsages();

// "uprobe"; the first word of a probe's name.
std::string_view WordOf(ProbeKind kind);

// Whether the probe is in the kernel.
bool IsInKernel(ProbeKind kind);

// Whether the probe is a BPF trampoline: fentry or fexit.
bool IsTrampoline(ProbeKind kind);

// Returns what the word before the first colon of `name` says; nothing if it is no probe.
std::optional<ProbeKind> ProbeKindOf(std::string_view name);

// Returns where a probe at the start of `list` ends: the length of its name, without options. The
// paths, templates and parameters in it have slashes and commas. `list` must begin with a probe.
std::size_t LengthOfProbe(std::string_view list);

// Decodes a name for which ProbeKindOf returns something. Fails with kInvalidArgument if a
// component is missing; the message shows the syntax.
Result<ProbeSpec> ParseProbe(std::string_view name);

}  // namespace perftape::record
