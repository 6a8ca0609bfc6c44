// SPDX-License-Identifier: Apache-2.0
// The kernel's symbol table in /proc/kallsyms. It has a line for each symbol of the kernel, of its
// modules, BPF programs and trampolines (kernel/kallsyms.c, s_show):
//
//   ffffffff81000000 T _stext
//   ffffffffc0341010 t nft_do_chain	[nf_tables]
//
// The rules are those of perf (tools/perf/util/symbol.c, dso__load_kallsyms), so that names agree
// with perf report: the types T, W, D and B in either case are kept. A symbol extends to the next
// one, but not across the end of the kernel or of a module.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/base/result.h"

namespace perftape::kallsyms {

struct Symbol {
  RuntimeAddress start;
  std::uint64_t size = 0;  // never 0
  std::string_view name;
  std::string_view module;  // "nf_tables", "bpf", "__builtin__ftrace"; empty for the kernel
  bool is_text = true;      // type T or W; others are variables
};

class Kallsyms {
 public:
  // Reads a whole file. Returns the errors of Parse and ReadWholeFile, such as kCorrupt if the file
  // exceeds symbol_limits.h.
  static Result<Kallsyms> Read(const std::filesystem::path& path = "/proc/kallsyms");
  // The same for a path that another user chose: opens only a regular file.
  static Result<Kallsyms> ReadRegular(const std::filesystem::path& path);
  // Returns kPermission if all addresses are zero, because the reader may not see them, and
  // kCorrupt if there is no symbol. Ignores invalid lines.
  static Result<Kallsyms> Parse(std::string text);

  // The symbol at `address`. Null between the kernel and its modules, and after them. Among several
  // symbols at one address, returns the last in the list, because perf gives a size only to that
  // one. Prefers a symbol of the kernel itself. O(log n). Views live as long as the Kallsyms, even
  // if it is moved.
  const Symbol* Find(RuntimeAddress address) const;

  // The whole text, as UTF-8 without a byte order mark, else unchanged.
  std::string_view text() const { return *text_; }

  // The address of a symbol of the kernel itself, of any type except absolute: "_text", "_stext",
  // "_etext". Nothing if there is none. Searches the text, which takes some milliseconds.
  std::optional<RuntimeAddress> AddressOf(std::string_view name) const;

  std::span<const Symbol> symbols() const { return symbols_; }  // sorted by start, which is unique

  // The code of a module, from the page of its first function to the end of its last one. Modules
  // are loaded at page boundaries.
  struct Extent {
    RuntimeAddress start, limit;
  };
  // Nothing for a module without a function in the list.
  std::optional<Extent> ModuleExtent(std::string_view module) const;

 private:
  explicit Kallsyms(std::string text);
  void FindModules();

  std::unique_ptr<const std::string> text_;  // on the heap, so that a move keeps views valid
  std::vector<Symbol> symbols_;
  std::map<std::string_view, Extent> modules_;
};

}  // namespace perftape::kallsyms
