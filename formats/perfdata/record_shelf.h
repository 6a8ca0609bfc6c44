// SPDX-License-Identifier: Apache-2.0
// Keeps copies of records that wait to be sorted, if their views do not last that long. A block of
// memory is freed when all records in it are released.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "formats/perfdata/record.h"

namespace perftape::perfdata {

class RecordShelf {
 public:
  // The block of a copy. kNone for a record without a copy, because its view lasts.
  struct Position {
    static constexpr std::uint32_t kNone = 0xffffffff;
    std::uint32_t block = kNone;
  };

  // Copies a record's payload. Sets `copy_begin` to the copy, which lives until its Release.
  Position Put(Bytes payload, const std::byte*& copy_begin);
  // Releases a copy. Does nothing for a record without a copy.
  void Release(Position position);

 private:
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t used = 0;
    std::size_t records = 0;  // not released yet
  };
  void OpenBlock();

  std::vector<Block> blocks_;
  std::vector<std::uint32_t> free_;  // blocks without memory
  std::uint32_t open_ = Position::kNone;
};

}  // namespace perftape::perfdata
