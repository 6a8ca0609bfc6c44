// SPDX-License-Identifier: Apache-2.0
// Writes a tar member by member, including members that no tar program writes.
#pragma once

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace perftape {

// The fields of a ustar header (POSIX) that the tests set.
struct TarMember {
  std::string name;
  char type = '0';  // '0' file, '1' hard link, '2' symbolic link, '3' device, '6' pipe, …
  std::string content = {};
  std::string target = {};                   // of a link
  std::uint64_t declared_size = UINT64_MAX;  // by default the content's size
  unsigned mode = 0644;
};

class TarBuilder {
 public:
  void Add(const TarMember& member) {
    const bool says = member.declared_size != UINT64_MAX;
    std::string header(512, '\0');
    Put(header, 0, member.name.substr(0, 100));
    Octal(header, 100, 8, member.mode);
    Octal(header, 108, 8, 0);
    Octal(header, 116, 8, 0);
    PutSize(header, says ? member.declared_size : member.content.size());
    Octal(header, 136, 12, 0);
    header[156] = member.type;
    Put(header, 157, member.target.substr(0, 100));
    Put(header, 257, std::string_view("ustar\00000", 8));
    header.replace(148, 8, 8, ' ');
    std::uint64_t sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    Octal(header, 148, 8, sum);
    bytes_ += header + member.content;
    bytes_.resize((bytes_.size() + 511) / 512 * 512);
  }

  // Adds a pax header ("path", "size", "linkpath", …) for the next member.
  void AddPax(std::initializer_list<std::pair<std::string, std::string>> records) {
    TarMember header{.name = "PaxHeaders", .type = 'x'};
    for (const auto& [key, value] : records) {
      const std::string record = " " + key + "=" + value + "\n";
      std::size_t size = record.size() + 1;
      while (std::to_string(size).size() + record.size() != size) ++size;
      header.content += std::to_string(size) + record;
    }
    Add(header);
  }

  // Returns the archive with its end mark, two empty blocks.
  std::string Bytes() const { return bytes_ + std::string(1024, '\0'); }

 private:
  static void Put(std::string& header, std::size_t at, std::string_view text) {
    header.replace(at, text.size(), text);
  }
  static void Octal(std::string& header, std::size_t at, int width, std::uint64_t number) {
    char text[32];
    std::snprintf(text, sizeof text, "%0*llo", width - 1, static_cast<unsigned long long>(number));
    Put(header, at, text);
  }
  // GNU tar writes sizes that octal digits cannot hold in base 256.
  static void PutSize(std::string& header, std::uint64_t size) {
    if (size < std::uint64_t{1} << 33) return Octal(header, 124, 12, size);
    header[124] = static_cast<char>(0x80);
    for (int i = 0; i < 8; ++i) {
      header[static_cast<std::size_t>(128 + i)] = static_cast<char>(size >> (56 - 8 * i));
    }
  }

  std::string bytes_;
};

}  // namespace perftape
