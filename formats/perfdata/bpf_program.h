// SPDX-License-Identifier: Apache-2.0
// The fields of a bpf_prog_info that a listing shows.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include "formats/base/bytes.h"

namespace perftape::perfdata {

struct BpfProgram {
  std::uint32_t type = 0;
  std::uint32_t id = 0;
  std::array<std::uint8_t, 8> tag = {};
  std::uint32_t jited_size = 0;   // bytes of machine code
  std::uint32_t xlated_size = 0;  // bytes of BPF code after verification
  std::string short_name;         // at most 15 characters

  // Returns "bpf_prog_6deef7357e7b4530_sd_fw_egress", as in kallsyms and perf.
  std::string name() const;
};

// Decodes the start of a struct bpf_prog_info (include/uapi/linux/bpf.h). Returns nothing if `info`
// ends before the program's name, which exists since Linux 4.15.
std::optional<BpfProgram> BpfProgramOf(Bytes info, std::endian order);

}  // namespace perftape::perfdata
