// SPDX-License-Identifier: Apache-2.0
// Before Linux 6.13 the stacks of a program and of the functions that it calls have 512 bytes
// together, each in whole 32 bytes (check_max_stack_depth in kernel/bpf/verifier.c of Linux 6.1).
// Later kernels load larger ones, so only this test shows it there.
#include <fcntl.h>
#include <gelf.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace perftape {
namespace {

constexpr int kRoom = 512, kUnit = 32;

// The number of a section, and of an instruction in it.
using InsnOffset = std::pair<std::size_t, std::size_t>;

struct Function {
  std::string name;
  int depth = 0;                    // of its own stack, in bytes
  std::vector<InsnOffset> callees;  // also those that it passes to a helper
};

bool IsAccess(const bpf_insn& insn) {
  const int kind = BPF_CLASS(insn.code);
  return kind == BPF_LDX || kind == BPF_ST || kind == BPF_STX;
}

// The bytes of stack that the instruction at `at` shows: it accesses them, or computes their
// address ("r2 = r10", "r2 += -16").
int DepthAt(const std::vector<bpf_insn>& code, std::size_t at) {
  const bpf_insn& insn = code[at];
  const int base = BPF_CLASS(insn.code) == BPF_LDX ? insn.src_reg : insn.dst_reg;
  if (IsAccess(insn) && base == BPF_REG_10) return -insn.off;
  if (insn.code != (BPF_ALU64 | BPF_MOV | BPF_X) || insn.src_reg != BPF_REG_10) return 0;
  for (std::size_t next = at + 1; next < code.size(); ++next) {
    if (code[next].dst_reg != insn.dst_reg || IsAccess(code[next])) continue;
    return code[next].code == (BPF_ALU64 | BPF_ADD | BPF_K) ? -code[next].imm : 0;
  }
  return 0;
}

// The functions of a compiled object, and what they call.
class Object {
 public:
  explicit Object(const std::filesystem::path& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)),
        elf_(elf_begin(fd_, ELF_C_READ_MMAP, nullptr)) {
    if (elf_ == nullptr) throw std::runtime_error(path.string() + ": no ELF file");
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      GElf_Shdr header;
      gelf_getshdr(section, &header);
      if (header.sh_type == SHT_SYMTAB) ReadSymbols(section, header);
      if ((header.sh_flags & SHF_EXECINSTR) != 0) ReadCode(section);
    }
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      GElf_Shdr header;
      gelf_getshdr(section, &header);
      if (header.sh_type == SHT_REL) ReadRelocations(section, header);
    }
    for (auto& [begin, function] : functions_) ReadFunction(begin, function);
  }
  ~Object() {
    elf_end(elf_);
    close(fd_);
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  const std::map<InsnOffset, Function>& functions() const { return functions_; }

  // The most stack that a function needs with those that it calls, and on which way.
  std::pair<int, std::string> DeepestFrom(InsnOffset offset) const {
    const Function& function = functions_.at(offset);
    const int own = (std::max(function.depth, 1) + kUnit - 1) / kUnit * kUnit;
    std::pair<int, std::string> deepest;
    for (const InsnOffset& callee : function.callees) {
      deepest = std::max(deepest, DeepestFrom(callee));
    }
    return {own + deepest.first,
            function.name + " " + std::to_string(function.depth) + "; " + deepest.second};
  }

 private:
  void ReadSymbols(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      const InsnOffset offset = {symbol.st_shndx, symbol.st_value / sizeof(bpf_insn)};
      symbols_.push_back(offset);
      if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      functions_[offset].name = elf_strptr(elf_, header.sh_link, symbol.st_name);
      sizes_[offset] = symbol.st_size / sizeof(bpf_insn);
    }
  }

  void ReadCode(Elf_Scn* section) {
    const Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return;
    std::vector<bpf_insn>& code = code_[elf_ndxscn(section)];
    code.resize(data->d_size / sizeof(bpf_insn));
    std::memcpy(code.data(), data->d_buf, code.size() * sizeof(bpf_insn));
  }

  void ReadRelocations(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Rel relocation;
    for (int i = 0; gelf_getrel(data, i, &relocation) != nullptr; ++i) {
      const InsnOffset at = {header.sh_info, relocation.r_offset / sizeof(bpf_insn)};
      relocations_[at] = symbols_.at(GELF_R_SYM(relocation.r_info));
    }
  }

  void ReadFunction(const InsnOffset& begin, Function& function) {
    const std::vector<bpf_insn>& all = code_.at(begin.first);
    const std::vector<bpf_insn> code(
        all.begin() + static_cast<std::ptrdiff_t>(begin.second),
        all.begin() + static_cast<std::ptrdiff_t>(begin.second + sizes_.at(begin)));
    for (std::size_t i = 0; i < code.size(); ++i) {
      function.depth = std::max(function.depth, DepthAt(code, i));
      const InsnOffset at = {begin.first, begin.second + i};
      const auto relocation = relocations_.find(at);
      const bool is_relocated = relocation != relocations_.end();
      if (code[i].code == (BPF_JMP | BPF_CALL) && code[i].src_reg == BPF_PSEUDO_CALL) {
        InsnOffset callee = is_relocated ? relocation->second : at;
        if (callee.first == SHN_UNDEF) continue;  // a function of the kernel
        callee.second += static_cast<std::size_t>(code[i].imm + 1);
        function.callees.push_back(callee);
      } else if (is_relocated && functions_.contains(relocation->second)) {
        function.callees.push_back(relocation->second);  // the address of a callback
      }
    }
  }

  int fd_;
  Elf* elf_;
  std::vector<InsnOffset> symbols_;
  std::map<InsnOffset, Function> functions_;
  std::map<InsnOffset, std::size_t> sizes_;  // in instructions
  std::map<std::size_t, std::vector<bpf_insn>> code_;
  std::map<InsnOffset, InsnOffset> relocations_;
};

// Checks the objects of a directory; returns how many functions with callees they have.
int CheckAll(const std::filesystem::path& directory) {
  int chains = 0;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    if (file.path().extension() != ".o") continue;
    const Object object(file.path());
    for (const auto& [offset, function] : object.functions()) {
      const auto [depth, way] = object.DeepestFrom(offset);
      EXPECT_LE(depth, kRoom) << file.path() << ": " << way;
      chains += !function.callees.empty();
    }
  }
  return chains;
}

class StackRoom : public testing::TestWithParam<const char*> {};

TEST_P(StackRoom, IsEnoughForEachProgramWithAllThatItCalls) {
  elf_version(EV_CURRENT);
  EXPECT_GT(CheckAll(std::filesystem::path(PERFTAPE_BPF_OBJECTS) / GetParam()), 20);
}

INSTANTIATE_TEST_SUITE_P(All, StackRoom, testing::Values("", "arm64"));

}  // namespace
}  // namespace perftape
