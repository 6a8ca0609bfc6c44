// SPDX-License-Identifier: Apache-2.0
// A TRACING_DATA section of given format files. It lays the section out by itself, without
// convert/rewrite/tracing_data, which has tests of its own.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"

namespace perftape::perfdata {

struct TracingSystem {
  std::string_view name;                  // "sched"
  std::vector<std::string_view> formats;  // texts of format files
};

inline std::vector<std::byte> TracingDataOf(const std::vector<TracingSystem>& systems,
                                            std::endian order = std::endian::little) {
  std::vector<std::byte> section;
  const auto text = [&](std::string_view chars) {
    section.insert(section.end(), AsBytes(chars).begin(), AsBytes(chars).end());
  };
  const auto number = [&](std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t byte = order == std::endian::little ? i : size - 1 - i;
      section.push_back(static_cast<std::byte>(value >> (8 * byte)));
    }
  };
  using namespace std::string_view_literals;
  text("\x17\x08\x44tracing0.6\0"sv);
  number(order == std::endian::big ? 1 : 0, 1);
  number(8, 1);     // long
  number(4096, 4);  // page
  text("header_page\0"sv);
  number(0, 8);
  text("header_event\0"sv);
  number(0, 8);
  number(0, 4);  // formats of ftrace
  number(systems.size(), 4);
  for (const TracingSystem& system : systems) {
    text(system.name);
    number(0, 1);
    number(system.formats.size(), 4);
    for (const std::string_view format : system.formats) {
      number(format.size(), 8);
      text(format);
    }
  }
  number(0, 4);  // kallsyms
  number(0, 4);  // printk formats
  number(0, 8);  // saved_cmdlines
  return section;
}

// A tracepoint with a field of each kind.
inline constexpr std::string_view kWakeFormat =
    "name: wake\n"
    "ID: 77\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\n"
    "\tfield:__data_loc char[] name;\toffset:4;\tsize:4;\tsigned:0;\n"
    "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
    "\tfield:u8 reason;\toffset:12;\tsize:1;\tsigned:0;\n"
    "\tfield:void * skaddr;\toffset:16;\tsize:8;\tsigned:0;\n"
    "\tfield:u16 ports[2];\toffset:24;\tsize:4;\tsigned:0;\n"
    "\n"
    "print fmt: \"name=%s\", __get_str(name)\n";

// RAW of a wake: name "disk", pid -1, reason 9, skaddr 0xffff888000000010, ports 80 and 443.
inline std::vector<std::byte> WakeRaw() {
  using namespace std::string_view_literals;
  constexpr std::string_view kRaw =
      "\x4d\x00\x00\x00"
      "\x1c\x00\x05\x00"  // 5 bytes at 28
      "\xff\xff\xff\xff"
      "\x09\x00\x00\x00"
      "\x10\x00\x00\x00\x80\x88\xff\xff"
      "\x50\x00\xbb\x01"
      "disk\x00\x00\x00\x00"sv;
  return {AsBytes(kRaw).begin(), AsBytes(kRaw).end()};
}

}  // namespace perftape::perfdata
