// SPDX-License-Identifier: Apache-2.0
// Makes jitdumps for tests.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"

namespace perftape {

class JitDumpBuilder {
 public:
  struct Options {
    std::uint32_t padding = 0;
    std::uint32_t pid = 7;
    std::uint64_t flags = 0;
    std::endian order = std::endian::native;
  };
  struct Line {
    std::uint64_t address = 0;
    std::uint32_t line = 0, column = 0;
    std::string file;
  };
  struct Function {
    std::uint64_t time = 0, address = 0, size = 0, index = 0;
    std::string name;
  };

  JitDumpBuilder() : JitDumpBuilder(Options{}) {}
  explicit JitDumpBuilder(const Options& options) : order_(options.order) {
    for (const std::uint32_t word : {std::uint32_t{0x4a695444}, std::uint32_t{1}, std::uint32_t{40},
                                     std::uint32_t{62}, options.padding, options.pid}) {
      Number(word);
    }
    Number(std::uint64_t{1000});
    Number(options.flags);
  }

  void AddLoad(const Function& function) {
    Begin(0, 40 + function.name.size() + 1 + function.size, function.time);
    Number(std::uint32_t{7});
    Number(std::uint32_t{7});
    Number(function.address);
    Number(function.address);
    Number(function.size);
    Number(function.index);
    Text(function.name);
    bytes_.resize(bytes_.size() + function.size, std::byte{0x90});
  }
  void AddMove(std::uint64_t time, std::uint64_t index, std::uint64_t address) {
    Begin(1, 48, time);
    Number(std::uint64_t{7});
    for (int i = 0; i < 3; ++i) Number(address);
    Number(std::uint64_t{0});
    Number(index);
  }
  void AddLines(std::uint64_t address, const std::vector<Line>& lines) {
    std::size_t size = 16;
    for (const Line& line : lines) size += 16 + line.file.size() + 1;
    Begin(2, size, 0);
    Number(address);
    Number(std::uint64_t{lines.size()});
    for (const Line& line : lines) {
      Number(line.address);
      Number(line.line);
      Number(line.column);
      Text(line.file);
    }
  }
  // The .eh_frame of the next function, and the bytes of an .eh_frame_hdr.
  void AddFrames(std::string_view eh_frame, std::size_t header_size = 20) {
    Begin(4, 24 + eh_frame.size() + header_size, 0);
    Number(std::uint64_t{eh_frame.size() + header_size});
    Number(std::uint64_t{header_size});
    Number(std::uint64_t{0});
    const Bytes frames = AsBytes(eh_frame);
    bytes_.insert(bytes_.end(), frames.begin(), frames.end());
    bytes_.resize(bytes_.size() + header_size);
  }
  // Adds a record of any type.
  void AddOther(std::uint32_t type, std::size_t size) {
    Begin(type, size, 0);
    bytes_.resize(bytes_.size() + size);
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  template <class T>
  void Number(T value) {
    if (order_ != std::endian::native) value = std::byteswap(value);
    ByteWriter(bytes_).Fixed(value);
  }
  void Text(std::string_view text) { ByteWriter(bytes_).PaddedString(text, text.size() + 1); }
  void Begin(std::uint32_t type, std::size_t payload, std::uint64_t time) {
    Number(type);
    Number(static_cast<std::uint32_t>(payload + 16));
    Number(time);
  }

  std::endian order_;
  std::vector<std::byte> bytes_;
};

}  // namespace perftape
