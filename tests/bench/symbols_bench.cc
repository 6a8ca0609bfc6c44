// SPDX-License-Identifier: Apache-2.0
// Measures reading symbol tables in comparison with the minimum: reading each entry and its name
// once with libelf.
//
//   find /usr/bin /usr/lib -type f | symbols_bench
//
// Reads the first 200 ELF files named on stdin, and resolves a million addresses in their code.
// Prints the minimum CPU time of several rounds.
#include <gelf.h>
#include <libelf.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "formats/elf/symbols.h"

namespace perftape::elf {
namespace {

constexpr std::size_t kBinaries = 200, kAddresses = 1'000'000;
constexpr int kRounds = 15;

double Seconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Counts {
  std::uint64_t symbols = 0, characters = 0;
};

void ReadTable(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, Counts& counts) {
  Elf_Data* entries = elf_getdata(section, nullptr);
  GElf_Sym symbol;
  for (int i = 0; gelf_getsym(entries, i, &symbol) != nullptr; ++i) {
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name != nullptr) counts.characters += std::strlen(name);
    ++counts.symbols;
  }
}

Counts ReadWithLibelf(const std::vector<std::string>& paths) {
  Counts counts;
  elf_version(EV_CURRENT);
  for (const std::string& path : paths) {
    auto mapping = MappedFile::Open(path).value();
    auto* image = reinterpret_cast<char*>(const_cast<std::byte*>(mapping.bytes().data()));
    Elf* elf = elf_memory(image, mapping.bytes().size());
    Elf_Scn* section = nullptr;
    while ((section = elf_nextscn(elf, section)) != nullptr) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr) continue;
      if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) {
        ReadTable(elf, section, header, counts);
      }
    }
    elf_end(elf);
  }
  return counts;
}

// Returns addresses in the code of a file, in random order.
std::vector<ImageAddress> AddressesIn(const ElfFile& file, std::size_t count) {
  const auto code = std::ranges::find(file.segments(), true, &Segment::executable);
  std::vector<ImageAddress> addresses;
  if (code == file.segments().end()) return addresses;
  std::mt19937_64 random(file.image().size());
  for (std::size_t i = 0; i < count; ++i) {
    addresses.push_back({code->address.value + random() % code->size});
  }
  return addresses;
}

struct Times {
  double libelf = 1e9, tables = 1e9, find = 1e9;
  Counts read;
  std::uint64_t named = 0;
};

void RunOnce(const std::vector<std::string>& paths,
             const std::vector<std::vector<ImageAddress>>& addresses, Times& times) {
  const double start = Seconds();
  times.read = ReadWithLibelf(paths);
  const double read = Seconds();
  std::vector<ElfFile> files;
  std::vector<SymbolTable> tables;
  for (const std::string& path : paths) files.push_back(ElfFile::Open(path).value());
  for (const ElfFile& file : files) tables.push_back(SymbolTable::Read(file));
  const double made = Seconds();
  times.named = 0;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (const ImageAddress address : addresses[i]) {
      if (tables[i].Find(address) != nullptr) ++times.named;
    }
  }
  const double found = Seconds();
  times.libelf = std::min(times.libelf, read - start);
  times.tables = std::min(times.tables, made - read);
  times.find = std::min(times.find, found - made);
}

int Run() {
  std::vector<std::string> paths;
  std::vector<std::vector<ImageAddress>> addresses;
  for (std::string path; paths.size() < kBinaries && std::getline(std::cin, path);) {
    const auto file = ElfFile::Open(path);
    if (!file) continue;
    paths.push_back(path);
    addresses.push_back(AddressesIn(*file, kAddresses / kBinaries));
  }
  Times times;
  for (int round = 0; round < kRounds; ++round) RunOnce(paths, addresses, times);
  std::printf("%zu binaries, %llu symbols with %llu characters, %llu addresses named\n",
              paths.size(), static_cast<unsigned long long>(times.read.symbols),
              static_cast<unsigned long long>(times.read.characters),
              static_cast<unsigned long long>(times.named));
  std::printf("libelf reads the tables  %7.1f ms\n", times.libelf * 1e3);
  std::printf("tables by address        %7.1f ms\n", times.tables * 1e3);
  std::printf("addresses found          %7.1f ms\n", times.find * 1e3);
  std::printf("ratio                    %7.2f\n", (times.tables + times.find) / times.libelf);
  return paths.empty() ? 1 : 0;
}

}  // namespace
}  // namespace perftape::elf

int main() {
  return perftape::elf::Run();
}
