// SPDX-License-Identifier: Apache-2.0
// Prints how perftape resolves addresses in a binary, in the format of llvm-symbolizer. Reads one
// hexadecimal address per line from stdin. For each it prints the frames, innermost first, as a
// line with the function and one with FILE:LINE:COLUMN, and an empty line. For tests/interop and
// tests/bench.
//
//   resolve_addresses [--lines|--symbols] [--mangled] [--seconds] [--cache=DIRECTORY] BINARY
//   [DEBUG-FILE [SUPPLEMENTARY]]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convert/symbolize/elf_binary.h"

namespace perftape {
namespace {

constexpr std::size_t kWorthWriting = 64 << 10;

struct Arguments {
  symbolize::ElfNameOptions options = {.demangling = symbolize::Demangling::kFull};
  bool seconds = false;
  std::vector<std::string> files = {};
};

Arguments Parse(int count, char** texts) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string_view text = texts[i];
    if (text == "--lines") {
      arguments.options.source_lines = symbolize::SourceLines::kLines;
    } else if (text == "--symbols") {
      arguments.options.source_lines = symbolize::SourceLines::kNone;
    } else if (text == "--mangled") {
      arguments.options.demangling = symbolize::Demangling::kNone;
    } else if (text == "--seconds") {
      arguments.seconds = true;
    } else if (text.starts_with("--cache=")) {
      arguments.options.index_cache = text.substr(text.find('=') + 1);
    } else {
      arguments.files.emplace_back(text);
    }
  }
  return arguments;
}

std::optional<elf::ElfFile> OpenNth(const Arguments& arguments, std::size_t n) {
  if (arguments.files.size() <= n) return std::nullopt;
  auto file = elf::ElfFile::Open(arguments.files[n]);
  if (file) return *std::move(file);
  std::cerr << file.error().message << '\n';
  std::exit(1);
}

void Print(const symbolize::Resolved& resolved, std::string& out) {
  if (resolved.frames.empty()) out += "??\n??:0:0\n";
  for (const symbolize::SourceFrame& frame : resolved.frames) {
    out += frame.name;
    out += '\n';
    out += frame.filename.empty() ? "??" : frame.filename;
    out += ':' + std::to_string(frame.line) + ':' + std::to_string(frame.column) + '\n';
  }
  out += '\n';
}

int Main(int count, char** texts) {
  Arguments arguments = Parse(count, texts);
  const auto image = OpenNth(arguments, 0), debug = OpenNth(arguments, 1),
             supplementary = OpenNth(arguments, 2);
  if (!image) return 2;
  if (supplementary) arguments.options.supplementary = &*supplementary;
  arguments.options.searched.roots = {"/"};

  std::vector<FileOffset> offsets;
  for (std::string line; std::getline(std::cin, line);) {
    const ImageAddress address{std::strtoull(line.c_str(), nullptr, 16)};
    offsets.push_back(image->ToFile(address).value_or(FileOffset{~std::uint64_t{0}}));
  }
  const auto start = std::chrono::steady_clock::now();
  symbolize::ElfNames names(*image, debug ? &*debug : nullptr, arguments.options);
  std::string out;
  for (const symbolize::Resolved& resolved : names.ResolveAll(offsets)) {
    Print(resolved, out);
    if (out.size() < kWorthWriting) continue;
    std::cout << out;
    out.clear();
  }
  std::cout << out;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (arguments.seconds) std::cerr << took.count() << '\n';
  if (!names.problem().empty()) std::cerr << names.problem() << '\n';
  return 0;
}

}  // namespace
}  // namespace perftape

int main(int count, char** texts) {
  return perftape::Main(count, texts);
}
