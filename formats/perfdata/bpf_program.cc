// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/bpf_program.h"

#include <fmt/core.h>

namespace perftape::perfdata {

std::string BpfProgram::name() const {
  std::string text = "bpf_prog_";
  for (const std::uint8_t byte : tag) text += fmt::format("{:02x}", byte);
  return short_name.empty() ? text : text + '_' + short_name;
}

std::optional<BpfProgram> BpfProgramOf(Bytes info, std::endian order) {
  BpfProgram program;
  ByteReader at(info, order);
  at.Fixed(program.type);                         // { __u32 type;
  at.Fixed(program.id);                           //   __u32 id;
  for (auto& byte : program.tag) at.Fixed(byte);  //   __u8 tag[BPF_TAG_SIZE];
  at.Fixed(program.jited_size);                   //   __u32 jited_prog_len;
  at.Fixed(program.xlated_size);                  //   __u32 xlated_prog_len;
  at.Padding(40);                                 //   … from jited_prog_insns to map_ids
  at.PaddedString(program.short_name, 16);        //   char name[BPF_OBJ_NAME_LEN]; … }
  if (!at.ok()) return {};
  return program;
}

}  // namespace perftape::perfdata
