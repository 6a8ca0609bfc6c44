// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/kernel_symbols.h"

#include <sys/auxv.h>
#include <sys/utsname.h>

#include <optional>
#include <string_view>

#include "formats/base/file.h"
#include "formats/elf/build_id.h"
#include "record/machine/proc_files.h"
#include "record/machine/requirements.h"

namespace perftape::record {
namespace {

BuildId NotesId(const std::filesystem::path& notes) {
  const Result<std::string> text = ReadWholeFile(notes);
  return text ? elf::BuildIdFromNotes(AsBytes(*text)) : BuildId{};
}

// Parses lines "nf_tables 311296 45 nft_ct,nft_chain_nat, Live 0xffffffffc0a1b000 (OE)".
std::vector<bundle::Module> ReadModules(const KernelRoots& roots) {
  std::vector<bundle::Module> modules;
  const Result<std::string> text = ReadWholeFile(roots.proc / "modules");
  if (!text) return modules;  // a kernel without modules
  std::string_view rest = *text;
  while (std::optional<std::string_view> line = NextLine(rest)) {
    bundle::Module module;
    module.name = NextField(*line, ' ');
    module.size = ParseNumber(NextField(*line, ' ')).value_or(0);
    for (int i = 0; i < 3; ++i) NextField(*line, ' ');  // references, users, state
    std::string_view address = NextField(*line, ' ');
    if (address.starts_with("0x")) address.remove_prefix(2);
    module.address = ParseNumber(address, 16).value_or(0);
    module.build_id = NotesId(roots.sys / "module" / module.name / "notes/.note.gnu.build-id");
    modules.push_back(std::move(module));
  }
  return modules;
}

// Finds "ffffffff81000000 T _text" among the symbols of the kernel itself; nothing if it is
// missing.
std::optional<std::uint64_t> AddressOf(std::string_view kallsyms, std::string_view symbol) {
  const std::string ending = " T " + std::string(symbol) + "\n";
  const std::string local_ending = " t " + std::string(symbol) + "\n";
  std::size_t at = kallsyms.find(ending);
  if (at == std::string_view::npos) at = kallsyms.find(local_ending);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t newline = kallsyms.rfind('\n', at);
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  return ParseNumber(kallsyms.substr(start, at - start), 16);
}

}  // namespace

bundle::Manifest DescribeSystem(const KernelRoots& roots) {
  bundle::Manifest system;
  system.perftape_version = PERFTAPE_VERSION;
  utsname name = {};
  if (::uname(&name) == 0) {
    system.host = name.nodename;
    system.kernel_release = name.release;
    system.machine = name.machine;
  }
  if (const auto boot = ReadWholeFile(roots.proc / "sys/kernel/random/boot_id")) {
    system.boot_id = std::string_view(*boot).substr(0, boot->find('\n'));
  }
  system.kernel_build_id = NotesId(roots.sys / "kernel/notes");
  system.modules = ReadModules(roots);
  return system;
}

Result<std::string> ReadKallsyms(const KernelRoots& roots, bundle::Manifest& system) {
  TRY_ASSIGN(std::string text, ReadWholeFile(roots.proc / "kallsyms"));
  for (const std::string_view symbol : {"_text", "_stext"}) {
    const std::optional<std::uint64_t> address = AddressOf(text, symbol);
    if (!address) continue;
    if (*address == 0) {
      return Fail(ErrorCode::kPermission, HiddenAddressesText());
    }
    system.reference_symbol = symbol;
    system.reference_address = *address;
    return text;
  }
  return Fail(ErrorCode::kNotFound, "/proc/kallsyms names neither _text nor _stext");
}

Bytes VdsoOfThisProcess() {
  const std::uint64_t address = ::getauxval(AT_SYSINFO_EHDR);
  const Result<std::string> maps = ReadWholeFile("/proc/self/maps");
  if (address == 0 || !maps) return {};
  std::string_view rest = *maps;
  while (const std::optional<std::string_view> line = NextLine(rest)) {
    const std::optional<MapsLine> region = ParseMapsLine(*line);
    if (!region || region->start != address) continue;
    return {reinterpret_cast<const std::byte*>(address), region->end - region->start};
  }
  return {};
}

}  // namespace perftape::record
