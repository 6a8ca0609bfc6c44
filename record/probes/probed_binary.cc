// SPDX-License-Identifier: Apache-2.0
#include "record/probes/probed_binary.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "formats/elf/debug_search_paths.h"
#include "record/events/did_you_mean.h"
#include "record/symbols/debug_files.h"

namespace perftape::record {
namespace {

bool IsFunction(const elf::Candidate& symbol) {
  return symbol.type == STT_FUNC || symbol.type == STT_GNU_IFUNC || symbol.type == STT_NOTYPE;
}

// Returns the readable form of a symbol of C++; empty for others.
std::string Demangled(std::string_view symbol) {
  // Longer ones are not worth the recursion of the demangler.
  constexpr std::size_t kLongest = 2000;
  if (!symbol.starts_with("_Z") || symbol.size() > kLongest) return "";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status), &std::free);
  return text ? text.get() : "";
}

// "ns::sort(int)" and "sort" have the last identifier "sort", which the symbol contains.
std::string_view LastIdentifier(std::string_view name) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  name = name.substr(0, name.find('('));
  const std::size_t end = name.find_last_of(kLetters);
  if (end == std::string_view::npos) return "";
  const std::size_t before = name.find_last_not_of(kLetters, end);
  const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
  return name.substr(start, end - start + 1);
}

// Whether `readable` is `name`, or `name` with parameters.
bool IsReadableName(std::string_view readable, std::string_view name) {
  if (!readable.starts_with(name)) return false;
  return readable.size() == name.size() || readable[name.size()] == '(';
}

// "malloc" rather than "__libc_malloc" or the local "__GI___libc_malloc".
bool IsBetterName(const elf::Candidate& one, const elf::Candidate& other) {
  const auto rank = [](const elf::Candidate& symbol) {
    return std::tuple(symbol.binding == STB_LOCAL, symbol.underscores);
  };
  return rank(one) < rank(other);
}

}  // namespace

Result<ProbedBinary> ProbedBinary::Open(const std::filesystem::path& path) {
  Result<elf::ElfFile> file = elf::ElfFile::Open(path);
  if (!file) return Fail(InContext(path.string(), std::move(file).error()));
  const std::uint16_t type = file->header().type;
  if (type != ET_EXEC && type != ET_DYN) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{}: is no program and no library", path.string()));
  }
  ProbedBinary binary(*std::move(file));
  binary.ReadFunctions();
  binary.usdt_ = elf::ReadUsdtProbes(binary.file_);
  return binary;
}

void ProbedBinary::ReadFunctions() {
  elf::AppendCandidates(file_, functions_);
  for (const SeparateDebugFile& debug :
       FindDebugFiles(file_, file_.path(), elf::DefaultDebugDirs())) {
    if (!debug.file) continue;
    Result<elf::ElfFile> opened = elf::ElfFile::Open(debug.path);
    if (!opened) continue;
    debug_files_.push_back(*std::move(opened));
    elf::AppendCandidates(debug_files_.back(), functions_);
  }
  const auto key = [](const elf::Candidate& symbol) {
    return std::pair(symbol.name, symbol.start);
  };
  std::erase_if(functions_, [](const elf::Candidate& symbol) { return !IsFunction(symbol); });
  std::ranges::sort(functions_, {}, key);
  const auto repeated = std::ranges::unique(functions_, {}, key);
  functions_.erase(repeated.begin(), repeated.end());
}

// The code of memcpy is in functions such as __memcpy_avx_unaligned.
std::unexpected<Error> ProbedBinary::ExplainIndirect(std::string_view name) const {
  std::vector<std::string> names = MatchingFunctions(fmt::format("*{}_*", name));
  constexpr std::size_t kMost = 3;
  if (names.size() > kMost) names.resize(kMost);
  std::string message = fmt::format(
      "'{}' in {} is an indirect function (IFUNC), which only chooses the code to call: probe that "
      "code",
      name, path().string());
  if (!names.empty()) message += fmt::format(", such as {}", fmt::join(names, ", "));
  return Fail(ErrorCode::kUnsupported, std::move(message));
}

Result<std::vector<ProbedOffset>> ProbedBinary::FindFunction(std::string_view name,
                                                             std::uint64_t offset) const {
  const auto same_name = std::ranges::equal_range(functions_, name, {}, &elf::Candidate::name);
  std::vector<elf::Candidate> found(same_name.begin(), same_name.end());
  if (found.empty()) {
    const std::string_view identifier = LastIdentifier(name);
    std::ranges::copy_if(functions_, std::back_inserter(found), [&](const elf::Candidate& symbol) {
      return symbol.name.contains(identifier) && IsReadableName(Demangled(symbol.name), name);
    });
  }
  if (found.empty()) {
    std::vector<std::string> names;
    for (const elf::Candidate& symbol : functions_) names.emplace_back(symbol.name);
    return Fail(ErrorCode::kNotFound,
                functions_.empty()
                    ? fmt::format("{} has no symbols: install its debug symbols", path().string())
                    : fmt::format("no function '{}' in {}{}", name, path().string(),
                                  DidYouMean(name, names)));
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
    return Fail(ErrorCode::kNotFound, fmt::format("'{}' has no code in {}", name, path().string()));
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
  std::map<std::uint64_t, const elf::Candidate*> chosen;  // by address
  for (const elf::Candidate& symbol : functions_) {
    if (symbol.type == STT_GNU_IFUNC || symbol.type == STT_NOTYPE) continue;
    if (fnmatch(glob.c_str(), std::string(symbol.name).c_str(), 0) != 0) continue;
    const elf::Candidate*& other = chosen.try_emplace(symbol.start, &symbol).first->second;
    if (IsBetterName(symbol, *other)) other = &symbol;
  }
  std::set<std::string> names;
  for (const auto& [address, symbol] : chosen) names.emplace(symbol->name);
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
