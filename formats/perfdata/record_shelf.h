// SPDX-License-Identifier: Apache-2.0
// Keeps copies of records whose views would not last while they wait for their turn. Memory is
// given back block by block, as soon as all records of a block are taken off.
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
  struct Place {
    static constexpr std::uint32_t kNone = 0xffffffff;
    std::uint32_t block = kNone;
  };

  // Copies a record's payload, and tells where the copy begins.
  Place Put(Bytes payload, const std::byte*& copy_of_it);
  // The copy is not needed any more. Of a record that has none, nothing happens.
  void TakeOff(Place place);

 private:
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t used = 0;
    std::size_t records = 0;  // that are on the shelf
  };
  void OpenBlock();

  std::vector<Block> blocks_;
  std::vector<std::uint32_t> free_;  // blocks without memory
  std::uint32_t open_ = Place::kNone;
};

}  // namespace perftape::perfdata
