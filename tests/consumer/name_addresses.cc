// SPDX-License-Identifier: Apache-2.0
// Names offsets in a binary by the symbols in a bundle, or in a recording that contains one:
//   name_addresses BUNDLE /usr/bin/app 0x1139 0x1180
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/base/addresses.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/bundle/bundle.h"
#include "formats/bundle/manifest.h"
#include "formats/demangle/demangle.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/symbols.h"

namespace {

using perftape::Bytes;
using perftape::ErrorCode;
using perftape::Fail;
using perftape::FileOffset;
using perftape::Result;
using perftape::Status;
using perftape::bundle::Bundle;
using perftape::bundle::BundledFile;
using perftape::elf::ElfFile;
using perftape::elf::Symbol;
using perftape::elf::SymbolTable;

// The bytes live as long as the bundle.
Result<Bytes> FindBinary(const Bundle& bundle, std::string_view path) {
  for (const BundledFile& file : bundle.manifest().files) {
    if (file.path != path || file.kind != perftape::bundle::FileKind::kElf) continue;
    if (const std::optional<Bytes> bytes = bundle.Find(file.member)) return *bytes;
  }
  return Fail(ErrorCode::kNotFound, std::string(path) + ": not in the bundle");
}

std::string NameOf(const ElfFile& file, const SymbolTable& symbols, FileOffset offset) {
  const auto address = file.ToImage(offset);
  const Symbol* symbol = address ? symbols.Find(*address) : nullptr;
  if (symbol == nullptr) return "??";
  return perftape::demangle::Demangle(std::string(symbol->name));
}

Status PrintNames(const char* bundle_path, const char* binary, std::span<char* const> offsets) {
  TRY_ASSIGN(const Bundle bundle, Bundle::Open(bundle_path));
  TRY_ASSIGN(const Bytes bytes, FindBinary(bundle, binary));
  TRY_ASSIGN(const ElfFile file, ElfFile::FromBytes(bytes));
  const SymbolTable symbols = SymbolTable::Read(file);
  for (const char* text : offsets) {
    const FileOffset offset{std::strtoull(text, nullptr, 0)};
    std::printf("%s %s\n", text, NameOf(file, symbols, offset).c_str());
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: name_addresses BUNDLE BINARY OFFSET...\n");
    return 2;
  }
  const std::span<char* const> arguments(argv, static_cast<std::size_t>(argc));
  const Status status = PrintNames(arguments[1], arguments[2], arguments.subspan(3));
  if (!status) {
    std::fprintf(stderr, "name_addresses: %s\n", status.error().message.c_str());
    return 1;
  }
  return 0;
}
