// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/record_shelf.h"

#include <algorithm>

namespace perftape::perfdata {
namespace {

constexpr std::size_t kBlockSize = std::size_t{1} << 20;
static_assert(kBlockSize > kMaxRecordSize + sizeof(RecordHeader));

}  // namespace

RecordShelf::Position RecordShelf::Put(Bytes payload, const std::byte*& copy_begin) {
  const std::size_t size = payload.size();
  if (open_ == Position::kNone || kBlockSize - blocks_[open_].used < size) OpenBlock();
  Block& block = blocks_[open_];
  std::byte* const copy = block.bytes.get() + block.used;
  std::ranges::copy(payload, copy);
  block.used += size;
  ++block.records;
  copy_begin = copy;
  return {open_};
}

void RecordShelf::Release(Position position) {
  if (position.block == Position::kNone) return;
  Block& block = blocks_[position.block];
  if (--block.records > 0) return;
  block.used = 0;
  if (position.block == open_) return;
  block.bytes.reset();
  free_.push_back(position.block);
}

void RecordShelf::OpenBlock() {
  if (open_ != Position::kNone && blocks_[open_].records == 0) return;  // the open block is empty
  if (free_.empty()) {
    open_ = static_cast<std::uint32_t>(blocks_.size());
    blocks_.emplace_back();
  } else {
    open_ = free_.back();
    free_.pop_back();
  }
  blocks_[open_].bytes = std::make_unique_for_overwrite<std::byte[]>(kBlockSize);
}

}  // namespace perftape::perfdata
