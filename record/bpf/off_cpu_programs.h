// SPDX-License-Identifier: Apache-2.0
// The BPF programs that measure waits (bpf/off_cpu.bpf.c). Only bpf_objects and bpf_session use
// them.
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "bpf/wire.h"
#include "formats/base/result.h"

struct bpf_map;
struct bpf_object;
struct bpf_program;
struct off_cpu_bpf;

namespace perftape::record {

// Fails with kUnsupported if the kernel cannot measure waits; the message says what it lacks.
Status CheckOffCpuSupport();

// The size of an entry that stores the registers and at most `stack_bytes` of the stack of a
// waiting thread.
std::uint32_t StoredStackBytes(std::uint32_t stack_bytes);

// Sets the number and size of the entries of a map of stored stacks. Has no effect for 0 stacks.
void SizeStoredStacks(bpf_map* map, std::uint32_t stacks, const wire_filter& filter);

class OffCpuPrograms {
 public:
  // `share_maps` replaces maps of the object by those of the recording. Messages of libbpf are
  // quoted from `log`.
  static Result<OffCpuPrograms> Load(const wire_filter& filter, const wire_off_cpu& settings,
                                     const std::function<Status(bpf_object*)>& share_maps,
                                     const std::string& log);

  OffCpuPrograms(OffCpuPrograms&&) noexcept;
  OffCpuPrograms& operator=(OffCpuPrograms&&) noexcept;
  ~OffCpuPrograms();

  // Attaches the programs. Waits that began earlier count from here on.
  Status Start(const std::string& log);
  // Pause sends the waits that have not ended and the sums of short ones. Until Resume, nothing is
  // measured, and waits count from there on. If Pause comes before Start, Start only attaches.
  // Calls that change nothing have no effect.
  Status Pause(const std::string& log);
  Status Resume(const std::string& log);
  // Detaches the programs, and sends the waits that have not ended and the sums of short ones. A
  // second call has no effect.
  Status Stop(const std::string& log);

 private:
  struct Impl;
  explicit OffCpuPrograms(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace perftape::record
