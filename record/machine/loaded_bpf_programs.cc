// SPDX-License-Identifier: Apache-2.0
#include "record/machine/loaded_bpf_programs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <fmt/core.h>
#include <linux/bpf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "formats/base/file.h"
#include "record/machine/btf_types.h"

namespace perftape::record {
namespace {

// An array that bpf_prog_info points to: the fields of its pointer, count and element size. The bit
// is its number in perf (tools/perf/util/bpf-utils.h, enum perf_bpil_array_types). These seven are
// the ones that `perf record` stores, in its order.
struct InfoArray {
  unsigned bit;
  std::size_t pointer;
  std::size_t count;
  std::size_t element_size;        // 0: the kernel returns it in
  std::size_t element_size_field;  // this field
};

// clang-format off
#define FIELD(name) offsetof(bpf_prog_info, name)
constexpr InfoArray kJitedInsns    {0, FIELD(jited_prog_insns), FIELD(jited_prog_len), 1, 0};
constexpr InfoArray kJitedKsyms    {3, FIELD(jited_ksyms), FIELD(nr_jited_ksyms), 8, 0};
constexpr InfoArray kJitedFuncLens {4, FIELD(jited_func_lens), FIELD(nr_jited_func_lens), 4, 0};
constexpr InfoArray kFuncInfo      {5, FIELD(func_info), FIELD(nr_func_info), 0, FIELD(func_info_rec_size)};
constexpr InfoArray kLineInfo      {6, FIELD(line_info), FIELD(nr_line_info), 0, FIELD(line_info_rec_size)};
constexpr InfoArray kJitedLineInfo {7, FIELD(jited_line_info), FIELD(nr_jited_line_info), 0, FIELD(jited_line_info_rec_size)};
constexpr InfoArray kProgTags      {8, FIELD(prog_tags), FIELD(nr_prog_tags), BPF_TAG_SIZE, 0};
#undef FIELD
// clang-format on

constexpr InfoArray kArrays[] = {kJitedInsns, kJitedKsyms,    kJitedFuncLens, kFuncInfo,
                                 kLineInfo,   kJitedLineInfo, kProgTags};

// The size of bpf_prog_info in the file: up to run_cnt, as in Linux 5.1 and its perf. perf rejects
// a struct that is larger than its own.
constexpr std::size_t kStoredInfo = offsetof(bpf_prog_info, recursion_misses);

// What the kernel returns about one program; `info` points into `data`.
struct Answer {
  // Cleared with its padding, which a compiler need not do: the kernel rejects (E2BIG) non-zero
  // bytes after its own last field.
  Answer() { std::memset(&info, 0, sizeof info); }

  bpf_prog_info info;
  std::vector<std::byte> data;
  std::uint64_t arrays = 0;

  template <class T>
  T Field(std::size_t offset) const {
    T value;
    std::memcpy(&value, reinterpret_cast<const std::byte*>(&info) + offset, sizeof value);
    return value;
  }
  void SetField(std::size_t offset, auto value) {
    std::memcpy(reinterpret_cast<std::byte*>(&info) + offset, &value, sizeof value);
  }

  std::size_t ElementSize(const InfoArray& array) const {
    return array.element_size != 0 ? array.element_size
                                   : Field<std::uint32_t>(array.element_size_field);
  }
  std::size_t Count(const InfoArray& array) const {
    return (arrays >> array.bit & 1) != 0 ? Field<std::uint32_t>(array.count) : 0;
  }
  // Returns the start of element `i`.
  template <class T>
  T Element(const InfoArray& array, std::size_t i) const {
    T value;
    std::memcpy(&value,
                reinterpret_cast<const std::byte*>(Field<std::uint64_t>(array.pointer)) +
                    i * ElementSize(array),
                sizeof value);
    return value;
  }
};

Status AskKernel(int fd, bpf_prog_info& info) {
  std::uint32_t size = sizeof info;
  if (bpf_obj_get_info_by_fd(fd, &info, &size) != 0) return FailErrno("a BPF program", errno);
  return {};
}

std::size_t RoundUpTo8(std::size_t size) {
  return (size + 7) / 8 * 8;
}

// Calls the kernel twice: for the sizes of the arrays, then for the arrays.
Result<Answer> Describe(int fd) {
  Answer sizes;
  TRY(AskKernel(fd, sizes.info));
  std::size_t data_size = 0;
  for (const InfoArray& array : kArrays) {
    data_size += RoundUpTo8(sizes.Field<std::uint32_t>(array.count) * sizes.ElementSize(array));
  }
  Answer answer;
  answer.data.resize(data_size);
  const std::byte* at = answer.data.data();
  for (const InfoArray& array : kArrays) {
    const auto count = sizes.Field<std::uint32_t>(array.count);
    const std::size_t element_size = sizes.ElementSize(array);
    answer.SetField(array.count, count);
    if (array.element_size == 0) {
      answer.SetField(array.element_size_field, static_cast<std::uint32_t>(element_size));
    }
    answer.SetField(array.pointer, reinterpret_cast<std::uint64_t>(at));
    at += RoundUpTo8(count * element_size);
  }
  TRY(AskKernel(fd, answer.info));
  for (const InfoArray& array : kArrays) {
    // The kernel clears the pointers of arrays that this process may not see.
    if (answer.Field<std::uint64_t>(array.pointer) == 0) continue;
    answer.arrays |= std::uint64_t{1} << array.bit;
  }
  return answer;
}

// Returns the source name of function `i`; empty if BTF does not have it.
std::string_view NameInBtf(const Answer& answer, const btf* types, std::size_t i) {
  if (types == nullptr || i >= answer.Count(kFuncInfo)) return {};
  const auto function = answer.Element<bpf_func_info>(kFuncInfo, i);
  const btf_type* type = btf__type_by_id(types, function.type_id);
  const char* name = type != nullptr ? btf__name_by_offset(types, type->name_off) : nullptr;
  return name != nullptr ? name : "";
}

// Returns the name in kallsyms, which is also perf's name without BTF ("F" for subprograms):
// tools/perf/util/bpf-event.c, synthesize_bpf_prog_name.
std::string FunctionName(const Answer& answer, const btf* types, std::size_t i) {
  std::string name = "bpf_prog_";
  using Tag = std::array<std::uint8_t, BPF_TAG_SIZE>;
  for (const std::uint8_t byte : answer.Element<Tag>(kProgTags, i)) {
    name += fmt::format("{:02x}", byte);
  }
  std::string_view function = NameInBtf(answer, types, i);
  if (function.empty()) function = answer.Count(kJitedKsyms) == 1 ? answer.info.name : "F";
  if (!function.empty()) name.append("_").append(function);
  return name;
}

std::vector<BpfProgram::Function> FunctionsOf(const Answer& answer) {
  const std::size_t count =
      std::min({answer.Count(kJitedKsyms), answer.Count(kJitedFuncLens), answer.Count(kProgTags)});
  const BtfTypes types(count != 0 && answer.info.btf_id != 0
                           ? btf__load_from_kernel_by_id(answer.info.btf_id)
                           : nullptr);
  std::vector<BpfProgram::Function> functions;
  for (std::size_t i = 0; i < count; ++i) {
    functions.push_back({.address = answer.Element<std::uint64_t>(kJitedKsyms, i),
                         .length = answer.Element<std::uint32_t>(kJitedFuncLens, i),
                         .name = FunctionName(answer, types.get(), i)});
  }
  return functions;
}

// Converts to the form in the feature: pointers become offsets into the data.
perfdata::BpfProgInfo::Program Stored(Answer answer) {
  const auto base = reinterpret_cast<std::uint64_t>(answer.data.data());
  for (const InfoArray& array : kArrays) {
    const bool present = (answer.arrays >> array.bit & 1) != 0;
    const auto pointer = answer.Field<std::uint64_t>(array.pointer);
    answer.SetField(array.pointer, present ? pointer - base : std::uint64_t{0});
  }
  const auto* info = reinterpret_cast<const std::byte*>(&answer.info);
  return {
      .arrays = answer.arrays, .info = {info, info + kStoredInfo}, .data = std::move(answer.data)};
}

std::optional<BpfProgram> ReadProgram(std::uint32_t id) {
  const UniqueFd fd(bpf_prog_get_fd_by_id(id));
  if (!fd) return std::nullopt;
  Result<Answer> answer = Describe(fd.get());
  if (!answer) return std::nullopt;
  BpfProgram program;
  program.id = id;
  program.name = answer->info.name;
  program.functions = FunctionsOf(*answer);
  std::ranges::copy(answer->info.tag, program.tag.begin());
  program.info = Stored(*std::move(answer));
  return program;
}

}  // namespace

std::vector<BpfProgram> LoadedBpfPrograms() {
  std::vector<BpfProgram> programs;
  std::uint32_t id = 0;
  while (bpf_prog_get_next_id(id, &id) == 0) {
    if (std::optional<BpfProgram> program = ReadProgram(id)) {
      programs.push_back(*std::move(program));
    }
  }
  return programs;
}

perfdata::BpfProgInfo BpfProgInfoOf(std::span<const BpfProgram> programs) {
  perfdata::BpfProgInfo feature;
  for (const BpfProgram& program : programs) {
    // perf reads addresses, lengths and tags without checking that they exist.
    if (!program.functions.empty()) feature.programs.push_back(program.info);
  }
  return feature;
}

}  // namespace perftape::record
