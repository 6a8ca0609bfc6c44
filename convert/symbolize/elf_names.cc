// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/elf_names.h"

#include <string_view>

#include "convert/symbolize/demangle.h"

namespace perftape {
namespace {

constexpr std::string_view kPlt = "@plt";

// "std::terminate()@plt" of "_ZSt9terminatev@plt".
SourceFrame FrameOf(std::string_view symbol) {
  const bool is_plt = symbol.ends_with(kPlt);
  std::string linker_name(is_plt ? symbol.substr(0, symbol.size() - kPlt.size()) : symbol);
  std::string name = Demangle(linker_name);
  const bool is_mangled = name != linker_name;
  if (is_plt) name += kPlt;
  return {.name = std::move(name), .system_name = is_mangled ? std::string(symbol) : std::string()};
}

}  // namespace

ElfNames::ElfNames(const elf::ElfFile& image, const elf::ElfFile* debug)
    : image_(image),
      symbols_(debug == nullptr ? elf::SymbolTable::Read(image)
                                : elf::SymbolTable::Read(image, *debug)) {}

Resolved ElfNames::Resolve(FileOffset offset) {
  const std::optional<ImageAddress> address = image_.ToImage(offset);
  const elf::Symbol* symbol = address ? symbols_.Find(*address) : nullptr;
  if (symbol == nullptr) return {.miss = Miss::kNoSymbol};
  const auto [known, is_new] = demangled_.try_emplace(symbol);
  if (is_new) known->second = FrameOf(symbol->name);
  return {.frames = {known->second}};
}

}  // namespace perftape
