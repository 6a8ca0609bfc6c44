// SPDX-License-Identifier: Apache-2.0
#include "record/machine/kernel_maps.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "formats/base/file.h"
#include "formats/perfdata/mapping_name.h"
#include "formats/perfdata/record.h"
#include "record/machine/proc_files.h"
#include "record/machine/requirements.h"

namespace perftape::record {
namespace {

// Reads a file in /proc line by line and piece by piece. kallsyms has megabytes, which the kernel
// formats as they are read, and the end of the text precedes most of it.
class LineReader {
 public:
  explicit LineReader(UniqueFd fd) : fd_(std::move(fd)), buffer_(64 << 10, '\0') {}

  // Returns the next line, valid until the next call; nothing at the end. A last line without a
  // newline, or one longer than the buffer, does not occur in /proc and counts as the end.
  Result<std::optional<std::string_view>> Next() {
    while (true) {
      const std::string_view unread = std::string_view(buffer_).substr(begin_, end_ - begin_);
      const std::size_t newline = unread.find('\n');
      if (newline != std::string_view::npos) {
        begin_ += newline + 1;
        return unread.substr(0, newline);
      }
      std::copy(unread.begin(), unread.end(), buffer_.begin());
      begin_ = 0;
      end_ = unread.size();
      TRY_ASSIGN(const std::size_t got, ReadMore());
      if (got == 0) return std::nullopt;
      end_ += got;
    }
  }

 private:
  Result<std::size_t> ReadMore() {
    ssize_t got = 0;
    do {
      got = ::read(fd_.get(), buffer_.data() + end_, buffer_.size() - end_);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return FailErrno("read", errno);
    return static_cast<std::size_t>(got);
  }

  UniqueFd fd_;
  std::string buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of the bytes that were read and not returned yet
};

// Reads the addresses up to _etext. Stops at a hidden one.
Result<KernelText> ReadKernelText(const std::filesystem::path& kallsyms) {
  UniqueFd fd(::open(kallsyms.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return FailErrno(kallsyms.string(), errno);
  LineReader lines(std::move(fd));
  KernelText kernel;
  while (kernel.etext == 0) {
    TRY_ASSIGN(std::optional<std::string_view> line, lines.Next());
    if (!line) break;
    // "ffffffff81000000 T _text"; symbols of modules follow all of the kernel's own.
    if (line->ends_with(']')) break;
    const std::string_view address = NextField(*line, ' ');
    NextField(*line, ' ');
    std::uint64_t* const found = *line == "_text"    ? &kernel.text
                                 : *line == "_stext" ? &kernel.stext
                                 : *line == "_etext" ? &kernel.etext
                                                     : nullptr;
    if (found == nullptr) continue;
    *found = ParseNumber(address, 16).value_or(0);
    if (*found == 0) break;
  }
  return kernel;
}

// Returns the path of each module under `directory`, by name. modules.dep has a line "PATH:
// DEPENDENCIES" for each.
std::map<std::string, std::string> ModulePaths(const std::filesystem::path& directory) {
  std::map<std::string, std::string> paths;
  const Result<std::string> dependencies = ReadWholeFile(directory / "modules.dep");
  if (!dependencies) return paths;
  std::string_view text = *dependencies;
  while (std::optional<std::string_view> line = NextLine(text)) {
    const std::string_view path = NextField(*line, ':');
    if (!path.empty()) paths.emplace(perfdata::ModuleNameOf(path), (directory / path).string());
  }
  return paths;
}

std::filesystem::path RunningModules() {
  utsname system = {};
  if (::uname(&system) != 0) return {};
  return std::filesystem::path("/lib/modules") / system.release;
}

Status AppendMap(const perfdata::Mmap& map, const perfdata::SampleFormat& format,
                 std::vector<std::byte>& out) {
  return perfdata::Encode(map, {}, format, MiscOf(perfdata::CpuMode::kKernel), out);
}

// Appends the mapping of the kernel's text. Returns false if its symbols are hidden or missing.
Result<bool> AppendText(const KernelText& kernel, const perfdata::SampleFormat& format,
                        std::vector<std::byte>& out) {
  const bool has_text = kernel.text != 0;
  const std::uint64_t start = has_text ? kernel.text : kernel.stext;
  if (start == 0 || kernel.etext <= start) return false;
  const std::string filename =
      std::string(perfdata::kKernelMappingName) + (has_text ? "_text" : "_stext");
  TRY(AppendMap({.pid = kKernelPid,
                 .start = start,
                 .length = kernel.etext - start,
                 .page_offset = start,
                 .filename = filename},
                format, out));
  return true;
}

// Appends the modules in lines such as "nf_tables 311296 45 nft_ct,nft_chain_nat, Live
// 0xffffffffc0a1b000 (OE)". Returns how many had no address.
Result<std::size_t> AppendModules(std::string_view modules, const std::filesystem::path& directory,
                                  const perfdata::SampleFormat& format,
                                  std::vector<std::byte>& out) {
  const std::map<std::string, std::string> paths = ModulePaths(directory);
  std::size_t hidden = 0;
  while (std::optional<std::string_view> line = NextLine(modules)) {
    const std::string name(NextField(*line, ' '));
    const std::optional<std::uint64_t> size = ParseNumber(NextField(*line, ' '));
    for (int i = 0; i < 3; ++i) NextField(*line, ' ');  // references, users, state
    std::string_view address_text = NextField(*line, ' ');
    if (address_text.starts_with("0x")) address_text.remove_prefix(2);
    const std::optional<std::uint64_t> address = ParseNumber(address_text, 16);
    if (!size || !address || *address == 0) {
      ++hidden;
      continue;
    }
    const auto path = paths.find(name);
    const std::string filename = path == paths.end() ? "[" + name + "]" : path->second;
    TRY(AppendMap({.pid = kKernelPid, .start = *address, .length = *size, .filename = filename},
                  format, out));
  }
  return hidden;
}

}  // namespace

Result<std::vector<std::string>> AppendKernelMaps(const SystemRoots& roots,
                                                  const perfdata::SampleFormat& format,
                                                  std::vector<std::byte>& out) {
  std::vector<std::string> warnings;
  const Result<KernelText> kernel =
      roots.text ? *roots.text : ReadKernelText(roots.proc / "kallsyms");
  bool has_text = false;
  if (kernel) {
    TRY_ASSIGN(has_text, AppendText(*kernel, format, out));
  }
  if (!has_text) {
    // CheckFacts has told it before the start if the reason is known.
    const bool is_told = kernel && WhyAddressesAreHidden(ReadSystemFacts());
    const std::string reason = kernel ? HiddenAddressesText() : kernel.error().message;
    if (!is_told) warnings.push_back("kernel frames will have no names: " + reason);
  }

  const Result<std::string> modules = ReadWholeFile(roots.proc / "modules");
  if (!modules) return warnings;
  const std::filesystem::path directory = roots.modules.empty() ? RunningModules() : roots.modules;
  TRY_ASSIGN(const std::size_t hidden, AppendModules(*modules, directory, format, out));
  // What hides the kernel's addresses hides those of modules, too: one warning is enough.
  if (hidden > 0 && has_text) {
    warnings.push_back("frames in " + std::to_string(hidden) +
                       " kernel modules will have no names: /proc/modules hides their addresses");
  }
  return warnings;
}

Status AppendBpfPrograms(std::span<const BpfProgram> programs, const perfdata::SampleFormat& format,
                         std::vector<std::byte>& out) {
  for (const BpfProgram& program : programs) {
    bool is_visible = false;
    for (const BpfProgram::Function& function : program.functions) {
      if (function.address == 0) continue;
      is_visible = true;
      const perfdata::Ksymbol symbol{.address = function.address,
                                     .length = function.length,
                                     .symbol_type = perfdata::Ksymbol::kTypeBpf,
                                     .name = function.name};
      TRY(perfdata::Encode(symbol, {}, format, 0, out));
    }
    if (!is_visible) continue;
    const perfdata::BpfEvent event{
        .event_type = perfdata::BpfEvent::kLoad, .id = program.id, .tag = program.tag};
    TRY(perfdata::Encode(event, {}, format, 0, out));
  }
  return {};
}

}  // namespace perftape::record
