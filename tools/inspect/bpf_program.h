// SPDX-License-Identifier: Apache-2.0
// What a bpf_prog_info says of its program, as far as a listing needs it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include "formats/base/bytes.h"

namespace perftape::inspect {

struct BpfProgram {
  std::uint32_t type = 0;
  std::uint32_t id = 0;
  std::array<std::uint8_t, 8> tag = {};
  std::uint32_t jited_size = 0;   // bytes of machine code
  std::uint32_t xlated_size = 0;  // bytes of BPF code, as verified
  std::string short_name;         // at most 15 letters

  // "bpf_prog_6deef7357e7b4530_sd_fw_egress", as kallsyms and perf name it.
  std::string name() const;
};

// From the start of struct bpf_prog_info (include/uapi/linux/bpf.h); nothing where `info` is
// shorter than up to the program's name, which came with Linux 4.15.
std::optional<BpfProgram> BpfProgramOf(Bytes info, std::endian order);

}  // namespace perftape::inspect
