// SPDX-License-Identifier: Apache-2.0
// A sample as `perf report` sees it: with the facts of its record, and with frames whose names are
// numbers in tables. All numbers are of one NameTable.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/perfdata/record.h"

namespace perftape::histogram {

// Texts with a number each. 0 is the empty text, which stands for "unknown".
class TextTable {
 public:
  TextTable() { Add({}); }
  std::uint32_t Add(std::string_view text);
  // Valid as long as the table.
  const std::string& operator[](std::uint32_t number) const { return texts_[number]; }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

// A function of a binary. Two functions of one name at two addresses are two symbols.
struct Symbol {
  std::uint32_t name = 0;  // in the texts; 0: unknown
  std::uint32_t dso = 0;   // in the texts; 0: nothing is mapped there
  std::uint64_t start = 0;
  bool is_inlined = false;
};

class SymbolTable {
 public:
  SymbolTable() { Add({}); }
  std::uint32_t Add(const Symbol& symbol);
  const Symbol& operator[](std::uint32_t number) const { return symbols_[number]; }

 private:
  std::vector<Symbol> symbols_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

struct NameTable {
  TextTable texts;
  SymbolTable symbols;
  // By tid, the last name of a thread, in the texts. A thread without one keeps that of its hit.
  std::unordered_map<std::uint32_t, std::uint32_t> last_comms = {};
};

struct Frame {
  std::uint32_t dso = 0;      // in the texts; 0: nothing is mapped there
  std::uint32_t symbol = 0;   // in the symbols; 0: unknown
  std::uint32_t srcline = 0;  // in the texts: "file.c:12"; 0: unknown
  std::uint32_t srcfile = 0;  // in the texts: the path of the source file; 0: unknown
  std::uint64_t address = 0;  // at run time; in an Entry the address that perf shows for it
  char level = '.';           // 'k' for the kernel, 'g' and 'u' for a guest's, 'H' for a hypervisor
};

// How often, and what that amounts to.
struct Amounts {
  std::uint64_t period = 0, samples = 0;
  std::uint64_t kernel = 0, user = 0, guest_kernel = 0, guest_user = 0;  // periods by cpu mode

  void Add(const Amounts& other);
};

struct Hit {
  std::uint32_t pid = 0, tid = 0;
  std::uint32_t comm = 0;    // in the texts: the thread's name at the time of the sample
  std::int32_t cpu = -1;     // -1: not recorded
  std::uint32_t cgroup = 0;  // in the texts; 0: not recorded
  std::uint64_t time_ns = 0;
  std::uint64_t address = 0;  // PERF_SAMPLE_ADDR
  std::uint64_t weight = 0;   // of the access or transaction
  std::uint64_t transaction = 0;
  std::uint64_t code_page_size = 0;
  std::uint32_t parent = 0;       // in the texts: the first caller that --parent matches
  Amounts amounts = {};           // of this sample
  Frame leaf = {};                // `address` is that in the file, as perf shows it
  std::vector<Frame> chain = {};  // leaf first, with raw addresses; empty without callchain
};

}  // namespace perftape::histogram
