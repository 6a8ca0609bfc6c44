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
  // Where a copy is; of a record that lasts by itself there is none.
  struct Position {
    static constexpr std::uint32_t kNone = 0xffffffff;
    std::uint32_t block = kNone;
  };

  // Copies a record's payload, and tells where the copy begins.
  Position Put(Bytes payload, const std::byte*& copy_of_it);
  // The copy is not needed any more. Of a record that has none, nothing happens.
  void Release(Position position);

 private:
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t used = 0;
    std::size_t records = 0;  // that are on the shelf
  };
  void OpenBlock();

  std::vector<Block> blocks_;
  std::vector<std::uint32_t> free_;  // blocks without memory
  std::uint32_t open_ = Position::kNone;
};

}  // namespace perftape::perfdata
