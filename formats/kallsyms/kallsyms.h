// SPDX-License-Identifier: Apache-2.0
// The kernel's own symbol table, as /proc/kallsyms shows it: a line for each symbol of the kernel,
// of its modules, BPF programs and trampolines (kernel/kallsyms.c, s_show):
//
//   ffffffff81000000 T _stext
//   ffffffffc0341010 t nft_do_chain	[nf_tables]
//
// Kept as perf keeps it (tools/perf/util/symbol.c, dso__load_kallsyms), so that names agree with
// perf report's: types T, W, D and B in either case; a symbol reaches to the next one, but not
// across the end of the kernel or of a module.
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
  std::string_view module;  // "nf_tables", "bpf", "__builtin__ftrace"; empty for the kernel itself
  bool is_text = true;      // of type T or W; else variables
};

class Kallsyms {
 public:
  static Result<Kallsyms> Read(const std::filesystem::path& path = "/proc/kallsyms");
  // The same for a path that somebody else chose: only a regular file is opened.
  static Result<Kallsyms> ReadRegular(const std::filesystem::path& path);
  // kPermission where all addresses are zero, as readers without the right to see them get them;
  // kCorrupt where no line is one of a symbol. Other lines that are none are passed over.
  static Result<Kallsyms> Parse(std::string text);

  // The symbol that `address` lies in. Null between and behind the kernel and its modules. Of
  // several at one address it is the last listed, since that is the only one to which perf gives a
  // size; of the kernel's own, where there is one. O(log n). Views live as long as the Kallsyms,
  // also when it is moved.
  const Symbol* Find(RuntimeAddress address) const;

  // All of it, as it was read.
  std::string_view text() const { return *text_; }

  // Where a symbol of the kernel itself lies, of whatever type: "_text", "_stext", "_etext".
  // Searches the text; some milliseconds. Nothing for absolute symbols and where there is none.
  std::optional<RuntimeAddress> AddressOf(std::string_view name) const;

  std::span<const Symbol> symbols() const { return symbols_; }  // by start, one for each

  // Where the code of a module lies: from the page that its first function is in, since modules are
  // loaded at whole pages, to the end of its last one.
  struct Extent {
    RuntimeAddress start, limit;
  };
  // Nothing for a module of which it has no function.
  std::optional<Extent> ModuleExtent(std::string_view module) const;

 private:
  explicit Kallsyms(std::string text);
  void FindModules();

  std::unique_ptr<const std::string> text_;  // where it stays when this is moved
  std::vector<Symbol> symbols_;
  std::map<std::string_view, Extent> modules_;
};

}  // namespace perftape::kallsyms
