// SPDX-License-Identifier: Apache-2.0
#include "record/probes/probed_binary.h"

#include <elf.h>
#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "formats/base/text.h"
#include "formats/elf/debug_search_paths.h"
#include "formats/elf/symbols.h"
#include "formats/go/pclntab.h"
#include "record/probes/explain_missing.h"
#include "record/probes/function_names.h"
#include "record/symbols/debug_files.h"

namespace perftape::record {
namespace {

// call rel32 and jmp rel32 count from the next instruction.
std::vector<std::uint64_t> BranchesOfX86(Bytes code, std::uint64_t address) {
  constexpr std::byte kCall{0xe8}, kJump{0xe9};
  constexpr std::size_t kSize = 5;
  std::vector<std::uint64_t> targets;
  for (std::size_t at = 0; at + kSize <= code.size(); ++at) {
    if (code[at] != kCall && code[at] != kJump) continue;
    const auto distance = LoadFixed<std::int32_t>(code.data() + at + 1, std::endian::little);
    targets.push_back(address + at + kSize + static_cast<std::uint64_t>(std::int64_t{distance}));
  }
  return targets;
}

// B and BL: imm26 counts instructions from this one.
std::vector<std::uint64_t> BranchesOfArm64(Bytes code, std::uint64_t address) {
  constexpr std::uint32_t kOpcode = 0x7c000000, kBranch = 0x14000000;
  constexpr std::size_t kSize = 4;
  constexpr int kSignShift = 6;
  std::vector<std::uint64_t> targets;
  for (std::size_t at = 0; at + kSize <= code.size(); at += kSize) {
    const auto word = LoadFixed<std::uint32_t>(code.data() + at, std::endian::little);
    if ((word & kOpcode) != kBranch) continue;
    const auto distance = static_cast<std::int32_t>(word << kSignShift) >> kSignShift;
    targets.push_back(address + at +
                      static_cast<std::uint64_t>(std::int64_t{distance} * std::int64_t{kSize}));
  }
  return targets;
}

bool IsFunction(const elf::Candidate& symbol) {
  return symbol.type == STT_FUNC || symbol.type == STT_GNU_IFUNC || symbol.type == STT_NOTYPE;
}

// "malloc" rather than "__libc_malloc" or the local "__GI___libc_malloc".
bool IsBetterName(const elf::Candidate& one, const elf::Candidate& other) {
  const auto rank = [](const elf::Candidate& symbol) {
    return std::tuple(symbol.binding == STB_LOCAL, symbol.underscores);
  };
  return rank(one) < rank(other);
}

// The symbols are sorted by name, so those of a name and its clones are next to each other.
constexpr auto kByNameAndStart = [](const elf::Candidate& symbol) {
  return std::pair(symbol.name, symbol.start);
};

bool IsEntryOfPlt(const elf::Candidate& symbol) {
  return symbol.name.ends_with("@plt");
}

// Whether calls of the function `name` run this symbol. Parts do if there is no whole function.
void KeepWholeFunctions(std::vector<elf::Candidate>& found) {
  const auto is_part = [](const elf::Candidate& symbol) {
    return SplitClone(symbol.name).kind == CloneKind::kPart;
  };
  if (!std::ranges::all_of(found, is_part)) std::erase_if(found, is_part);
}

// "parse(int) [clone .isra.0]" as demanglers write it, and "parse.isra.0".
std::pair<std::string, std::string> SplitCloneMarks(std::string_view name) {
  std::string suffix;
  if (const std::size_t mark = name.find(" [clone "); mark != std::string_view::npos) {
    for (const char letter : name.substr(mark)) {
      if (letter == '.' || (letter >= '0' && letter <= '9') || letter == '_') suffix += letter;
      const bool is_word = letter >= 'a' && letter <= 'z';
      if (is_word && !suffix.empty()) suffix += letter;
      if (letter == ']') suffix += '\n';
    }
    std::erase(suffix, '\n');
    return {std::string(name.substr(0, mark)), suffix};
  }
  const CloneName clone = SplitClone(name);
  return {std::string(clone.base), std::string(clone.suffix)};
}

}  // namespace

std::vector<std::uint64_t> DirectBranches(Bytes code, std::uint64_t address,
                                          std::uint16_t machine) {
  if (machine == EM_X86_64) return BranchesOfX86(code, address);
  if (machine == EM_AARCH64) return BranchesOfArm64(code, address);
  return {};
}

Result<ProbedBinary> ProbedBinary::Open(const std::filesystem::path& path) {
  Result<elf::ElfFile> file = elf::ElfFile::Open(path);
  if (!file) {
    if (const auto script = DescribeScript(path)) return Fail(ErrorCode::kUnsupported, *script);
    return Fail(std::move(file).error());
  }
  const std::uint16_t type = file->header().type;
  if (type != ET_EXEC && type != ET_DYN) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{}: is neither a program nor a library", path.string()));
  }
  ProbedBinary binary(*std::move(file));
  binary.ReadFunctions();
  binary.usdt_ = elf::ReadUsdtProbes(binary.file_);
  return binary;
}

void ProbedBinary::ReadFile(Result<elf::ElfFile> opened) {
  if (!opened) return;
  other_files_.push_back(*std::move(opened));
  elf::AppendCandidates(other_files_.back(), functions_);
}

void ProbedBinary::ReadFunctions() {
  elf::AppendCandidates(file_, functions_);
  if (auto embedded = elf::ReadMiniDebugInfo(file_)) ReadFile(*std::move(embedded));
  OthersFiles files;
  const std::vector<std::filesystem::path> directories = elf::DefaultDebugDirs();
  for (const SeparateDebugFile& debug : FindDebugFiles(file_, file_.path(), directories, files)) {
    if (debug.file) ReadFile(elf::ElfFile::Open(debug.path));
  }
  if (other_files_.empty()) {
    const auto image = FindImage(file_, directories, files);
    if (image) ReadFile(elf::ElfFile::Open(*image));
  }
  std::erase_if(functions_, [](const elf::Candidate& symbol) { return !IsFunction(symbol); });
  ReadGoTable();
  ReadPlt();
  std::ranges::stable_sort(functions_, {}, kByNameAndStart);
  const auto repeated = std::ranges::unique(functions_, {}, kByNameAndStart);
  functions_.erase(repeated.begin(), repeated.end());
}

void ProbedBinary::ReadGoTable() {
  is_go_ = go::IsGoBinary(file_);
  if (!is_go_) return;
  Result<go::PcLineTable> table = go::PcLineTable::Read(file_);
  if (!table) return;
  for (std::uint64_t i = 0; i < table->functions(); ++i) {
    const std::uint64_t start = table->entry(i).value;
    const std::uint64_t end = std::max(start, table->entry(i + 1).value);
    const std::string_view name = table->name(i);
    if (name.empty()) continue;
    functions_.push_back(
        {.name = name, .start = start, .end = end, .section_end = end, .type = STT_FUNC});
  }
  go_table_ = *std::move(table);
}

void ProbedBinary::ReadPlt() {
  plt_ = elf::ReadPlt(file_);
  std::ranges::sort(plt_, {}, &elf::PltEntry::start);
  for (const elf::PltEntry& entry : plt_) {
    if (entry.name.empty()) continue;
    const std::uint64_t end = entry.start.value + entry.size;
    functions_.push_back({.name = made_names_.emplace_back(std::string(entry.name) + "@plt"),
                          .start = entry.start.value,
                          .end = end,
                          .section_end = end,
                          .type = STT_FUNC});
  }
}

bool ProbedBinary::IsGoCode(std::uint64_t offset) const {
  if (!is_go_) return false;
  // Without the table, C code is not told from Go's.
  if (!go_table_) return true;
  const std::optional<ImageAddress> address = file_.ToImage(FileOffset{offset});
  return !address || !go_table_->Find(*address).empty();
}

// The code of memcpy is in functions such as __memcpy_avx_unaligned.
std::unexpected<Error> ProbedBinary::ExplainIndirect(std::string_view name) const {
  std::vector<std::string> names = MatchingFunctions(fmt::format("*{}[_.]*", name));
  constexpr std::size_t kMost = 3;
  if (names.size() > kMost) names.resize(kMost);
  std::string message = fmt::format(
      "'{}' in {} is an indirect function (IFUNC), which only chooses the code to call: probe that "
      "code",
      name, path().string());
  if (!names.empty()) message += fmt::format(", such as {}", Joined(names, ", "));
  return Fail(ErrorCode::kUnsupported, std::move(message));
}

std::vector<elf::Candidate> ProbedBinary::FindSymbol(std::string_view name) const {
  const auto same_name = std::ranges::equal_range(functions_, name, {}, &elf::Candidate::name);
  std::vector<elf::Candidate> found(same_name.begin(), same_name.end());
  // The names of Go's functions have dots of their own.
  if (is_go_ || SplitClone(name).kind != CloneKind::kNone) return found;
  const std::string with_dot = std::string(name) + ".";
  for (auto at = std::ranges::lower_bound(functions_, with_dot, {}, &elf::Candidate::name);
       at != functions_.end() && at->name.starts_with(with_dot); ++at) {
    const CloneName clone = SplitClone(at->name);
    if (clone.base == name && clone.kind != CloneKind::kCold) found.push_back(*at);
  }
  KeepWholeFunctions(found);
  return found;
}

std::vector<elf::Candidate> ProbedBinary::FindSpelling(std::string_view name) const {
  const auto [base, suffix] = SplitCloneMarks(name);
  const std::string wanted = CanonicalName(base);
  const std::string_view identifier = NecessaryIdentifier(base);
  std::vector<elf::Candidate> found;
  for (const elf::Candidate& symbol : functions_) {
    if (symbol.type == STT_GNU_IFUNC || IsEntryOfPlt(symbol)) continue;
    if (!symbol.name.contains(identifier)) continue;
    const CloneName clone = is_go_ ? CloneName{.base = symbol.name} : SplitClone(symbol.name);
    const bool is_wanted = suffix.empty() ? clone.kind != CloneKind::kCold : clone.suffix == suffix;
    if (is_wanted && IsSpellingOf(wanted, clone.base)) {
      found.push_back(symbol);
    }
  }
  if (suffix.empty()) KeepWholeFunctions(found);
  RemoveCallers(found);
  return found;
}

std::vector<elf::Candidate> ProbedBinary::FindNamed(std::string_view name) const {
  std::vector<elf::Candidate> found = FindSymbol(name);
  return found.empty() ? FindSpelling(name) : found;
}

// A constructor of a complete object may call that of a base object of the same class, and a
// deleting destructor calls the one that does the work (Itanium C++ ABI, 5.1.4.3).
void ProbedBinary::RemoveCallers(std::vector<elf::Candidate>& found) const {
  std::map<std::string, std::vector<elf::Candidate>> by_name;
  for (const elf::Candidate& symbol : found) {
    by_name[ReadableName(SplitClone(symbol.name).base)].push_back(symbol);
  }
  std::erase_if(found, [&](const elf::Candidate& symbol) {
    std::vector<elf::Candidate> others = by_name[ReadableName(SplitClone(symbol.name).base)];
    std::erase_if(others, [&](const elf::Candidate& other) {
      return SplitClone(other.name).base == SplitClone(symbol.name).base ||
             other.start == symbol.start;
    });
    return !others.empty() && CallsOneOf(symbol, others);
  });
}

// A target in the linkage table counts as the function of this name.
bool ProbedBinary::CallsOneOf(const elf::Candidate& caller,
                              const std::vector<elf::Candidate>& called) const {
  const std::optional<FileOffset> at = file_.ToFile(ImageAddress{caller.start});
  const Bytes image = file_.image();
  if (!at || at->value >= image.size()) return false;
  const std::uint64_t size = std::min(caller.end - caller.start, image.size() - at->value);
  const std::vector<std::uint64_t> targets =
      DirectBranches(image.subspan(at->value, size), caller.start, file_.header().machine);
  return std::ranges::any_of(targets, [&](std::uint64_t target) {
    const auto entry =
        std::ranges::lower_bound(plt_, ImageAddress{target}, {}, &elf::PltEntry::start);
    const std::string_view name =
        entry != plt_.end() && entry->start.value == target ? entry->name : std::string_view();
    return std::ranges::any_of(called, [&](const elf::Candidate& other) {
      return other.start == target || (!name.empty() && other.name == name);
    });
  });
}

Result<std::vector<ProbedOffset>> ProbedBinary::FindFunction(std::string_view name,
                                                             std::uint64_t offset) const {
  const std::vector<elf::Candidate> found = FindNamed(name);
  if (found.empty()) {
    return Fail(ErrorCode::kNotFound, fmt::format("no function '{}' in {}", name, path().string()));
  }
  std::set<ProbedOffset> offsets;
  for (const elf::Candidate& symbol : found) {
    if (symbol.type == STT_GNU_IFUNC) return ExplainIndirect(name);
    if (offset != 0 && symbol.start + offset >= std::max(symbol.end, symbol.start + 1)) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' in {} has {} bytes: no instruction is at +0x{:x}", name,
                              path().string(), symbol.end - symbol.start, offset));
    }
    const std::optional<FileOffset> at = file_.ToFile(ImageAddress{symbol.start + offset});
    if (at) offsets.insert({.offset = at->value, .semaphore_offset = 0});
  }
  if (offsets.empty()) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("'{}' has no code in {}", name, path().string()));
  }
  return std::vector<ProbedOffset>(offsets.begin(), offsets.end());
}

// is_uprobe_at_func_entry of arch/x86/events/core.c: push %rbp, or endbr64.
bool ProbedBinary::PushesFramePointer(std::uint64_t offset) const {
  const std::string_view code =
      AsText(file_.image()).substr(std::min(offset, file_.image().size()));
  return code.starts_with('\x55') || code.starts_with("\xf3\x0f\x1e\xfa");
}

std::vector<std::string> ProbedBinary::MatchingFunctions(const std::string& glob) const {
  const bool is_of_symbols = glob.starts_with("_Z") || glob.starts_with("_R");
  const bool wants_plt = glob.contains("@");
  const std::string canonical = CanonicalName(glob);
  const std::string_view identifier =
      is_of_symbols ? std::string_view() : NecessaryIdentifier(glob);
  const auto base_of = [&](const elf::Candidate& symbol) {
    return std::string(is_go_ ? symbol.name : SplitClone(symbol.name).base);
  };
  const auto matches = [](const std::string& pattern, const std::string& name) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  };
  std::map<std::uint64_t, const elf::Candidate*> chosen;  // by address
  for (const elf::Candidate& symbol : functions_) {
    if (symbol.type == STT_GNU_IFUNC || symbol.type == STT_NOTYPE) continue;
    if (IsEntryOfPlt(symbol) && !wants_plt) continue;
    if (!symbol.name.contains(identifier)) continue;
    const bool is_match =
        matches(glob, std::string(symbol.name)) ||
        (!is_of_symbols && std::ranges::any_of(SpellingsOf(base_of(symbol)), [&](const auto& name) {
          return matches(canonical, name);
        }));
    if (!is_match) continue;
    if (!is_go_ && SplitClone(symbol.name).kind == CloneKind::kCold) continue;
    const elf::Candidate*& other = chosen.try_emplace(symbol.start, &symbol).first->second;
    if (IsBetterName(symbol, *other)) other = &symbol;
  }
  std::set<std::string> names;
  for (const auto& [address, symbol] : chosen) {
    names.insert(is_of_symbols ? std::string(symbol->name) : ReadableName(base_of(*symbol)));
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> ProbedBinary::ReadableNames() const {
  std::set<std::string> names;
  for (const elf::Candidate& symbol : functions_) {
    if (!IsEntryOfPlt(symbol)) names.insert(ReadableName(SplitClone(symbol.name).base));
  }
  return {names.begin(), names.end()};
}

std::vector<ProbedOffset> ProbedBinary::FindUsdt(std::string_view provider,
                                                 std::string_view name) const {
  std::set<ProbedOffset> offsets;
  for (const elf::UsdtProbe& probe : usdt_) {
    if (probe.provider != provider || probe.name != name) continue;
    const std::optional<FileOffset> at = file_.ToFile(probe.location);
    if (!at) continue;
    ProbedOffset offset{.offset = at->value, .semaphore_offset = 0};
    if (probe.semaphore.value != 0) {
      const std::optional<FileOffset> semaphore = file_.ToFile(probe.semaphore);
      if (!semaphore) continue;
      offset.semaphore_offset = semaphore->value;
    }
    offsets.insert(offset);
  }
  return {offsets.begin(), offsets.end()};
}

std::vector<std::string> ProbedBinary::UsdtNames() const {
  std::set<std::string> names;
  for (const elf::UsdtProbe& probe : usdt_) {
    names.insert(fmt::format("{}:{}", probe.provider, probe.name));
  }
  return {names.begin(), names.end()};
}

}  // namespace perftape::record
