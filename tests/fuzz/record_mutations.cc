// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/record_mutations.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace perftape::fuzz {
namespace {

using perfdata::RecordType;

std::ptrdiff_t At(std::size_t index) {
  return static_cast<std::ptrdiff_t>(index);
}

RecordType AnyType(Dice& dice) {
  constexpr std::uint32_t kNewestKernelType = 22, kNewestToolType = 86;
  switch (dice.Below(8)) {
    case 0:
      return static_cast<RecordType>(dice.Word());
    case 1:
    case 2:
      return RecordType::kSample;
    case 3:
    case 4:
      return static_cast<RecordType>(perfdata::kFirstToolType +
                                     dice.Below(kNewestToolType + 2 - perfdata::kFirstToolType));
    default:
      return static_cast<RecordType>(dice.Below(kNewestKernelType + 2));
  }
}

// A record, and the number of bytes after it.
struct Chosen {
  Buffer& record;
  std::size_t behind;
};
Chosen AnyRecord(Anatomy& anatomy, Dice& dice) {
  Buffer& record = dice.OneOf(anatomy.records);
  return {record, BytesBehind(record, anatomy.order)};
}

}  // namespace

Run RunOf(std::size_t count, Dice& dice) {
  if (count == 0) return {};
  const std::size_t begin = dice.Below(count);
  const std::size_t most = dice.OneIn(4) ? count - begin : std::min<std::size_t>(count - begin, 4);
  return {begin, begin + 1 + dice.Below(most)};
}

void ChangeType(Anatomy& anatomy, Dice& dice) {
  if (anatomy.records.empty()) return;
  const auto [record, behind] = AnyRecord(anatomy, dice);
  Store(record, 0, AnyType(dice), anatomy.order);
  CorrectSizes(record, behind, anatomy.order);
}

void ChangeMisc(Anatomy& anatomy, Dice& dice) {
  if (anatomy.records.empty()) return;
  Buffer& record = dice.OneOf(anatomy.records);
  auto misc = Load<std::uint16_t>(record, 4, anatomy.order);
  if (dice.OneIn(2)) {
    misc = static_cast<std::uint16_t>((misc & ~perfdata::kMiscCpumodeMask) | dice.Below(8));
  } else {
    misc = static_cast<std::uint16_t>(misc ^ (1u << dice.Below(16)));
  }
  Store(record, 4, misc, anatomy.order);
}

void Resize(Anatomy& anatomy, Dice& dice) {
  if (anatomy.records.empty()) return;
  const auto [record, behind] = AnyRecord(anatomy, dice);
  const std::size_t own = record.size() - behind;
  const std::size_t unit = dice.OneIn(8) ? 1 : 8;
  const std::size_t step = unit * (1 + dice.Below(dice.OneIn(4) ? 64 : 4));
  if (dice.OneIn(2)) {
    record.insert(record.begin() + At(own), step, dice.OneIn(2) ? std::byte{0} : std::byte{0x41});
  } else {
    const std::size_t cut = std::min(step, own - kHeaderSize);
    record.erase(record.begin() + At(own - cut), record.begin() + At(own));
  }
  CorrectSizes(record, behind, anatomy.order);
}

void ChangeField(Anatomy& anatomy, Dice& dice) {
  if (anatomy.records.empty()) return;
  const auto [record, behind] = AnyRecord(anatomy, dice);
  const std::size_t words = (record.size() - kHeaderSize) / 8;
  if (words == 0) return;
  const std::size_t at = kHeaderSize + dice.Below(words) * 8;
  const std::uint64_t word = dice.Word();
  switch (dice.Below(4)) {
    case 0:
      Store(record, at + dice.Below(2) * 4, static_cast<std::uint32_t>(word), anatomy.order);
      break;
    case 1: {  // near the old value
      const auto was = Load<std::uint64_t>(record, at, anatomy.order);
      Store<std::uint64_t>(record, at, was + dice.Below(17) - 8, anatomy.order);
      break;
    }
    case 2:
      Store(record, at + dice.Below(4) * 2, static_cast<std::uint16_t>(word), anatomy.order);
      break;
    default:
      Store(record, at, word, anatomy.order);
  }
  CorrectSizes(record, behind, anatomy.order);
}

void ChangePayload(Anatomy& anatomy, Dice& dice, ChangeBytes change) {
  if (anatomy.records.empty()) return;
  const auto [record, behind] = AnyRecord(anatomy, dice);
  const std::size_t payload = record.size() - kHeaderSize - behind;
  constexpr std::size_t kGrowth = 64;
  Buffer changed(record.begin() + kHeaderSize, record.end() - At(behind));
  changed.resize(payload + kGrowth);
  const std::size_t size =
      change(reinterpret_cast<std::uint8_t*>(changed.data()), payload, changed.size());
  changed.resize((size + 7) / 8 * 8);
  record.erase(record.begin() + kHeaderSize, record.end() - At(behind));
  record.insert(record.begin() + kHeaderSize, changed.begin(), changed.end());
  CorrectSizes(record, behind, anatomy.order);
}

void InsertRecord(Anatomy& anatomy, Dice& dice) {
  Buffer record(kHeaderSize + dice.Below(12) * 8);
  for (std::size_t at = kHeaderSize; at < record.size(); at += 8) {
    Store(record, at, dice.OneIn(2) ? 0 : dice.Word(), anatomy.order);
  }
  Store(record, 0, dice.OneIn(4) ? RecordType::kFinishedRound : AnyType(dice), anatomy.order);
  Store(record, 4, static_cast<std::uint16_t>(dice.Below(4)), anatomy.order);
  CorrectSizes(record, 0, anatomy.order);
  const std::size_t index = dice.Below(anatomy.records.size() + 1);
  anatomy.records.insert(anatomy.records.begin() + At(index), std::move(record));
}

void DeleteRecords(Anatomy& anatomy, Dice& dice) {
  Run run = RunOf(anatomy.records.size(), dice);
  // Without records, a data.size of 0 would mean that all bytes after the header are records.
  if (run.end - run.begin == anatomy.records.size()) run.begin = std::min<std::size_t>(run.end, 1);
  anatomy.records.erase(anatomy.records.begin() + At(run.begin),
                        anatomy.records.begin() + At(run.end));
}

void DuplicateRecords(Anatomy& anatomy, Dice& dice) {
  const Run run = RunOf(anatomy.records.size(), dice);
  const std::vector<Buffer> copies(anatomy.records.begin() + At(run.begin),
                                   anatomy.records.begin() + At(run.end));
  const std::size_t index = dice.Below(anatomy.records.size() + 1);
  anatomy.records.insert(anatomy.records.begin() + At(index), copies.begin(), copies.end());
}

void SwapRecords(Anatomy& anatomy, Dice& dice) {
  if (anatomy.records.empty()) return;
  std::swap(dice.OneOf(anatomy.records), dice.OneOf(anatomy.records));
}

void MoveRecords(Anatomy& anatomy, Dice& dice) {
  const Run run = RunOf(anatomy.records.size(), dice);
  const std::size_t index = dice.Below(run.begin + 1);
  std::rotate(anatomy.records.begin() + At(index), anatomy.records.begin() + At(run.begin),
              anatomy.records.begin() + At(run.end));
}

void SpliceRecords(Anatomy& anatomy, const Anatomy& other, Dice& dice) {
  const Run from = RunOf(other.records.size(), dice);
  if (!anatomy.records.empty() && dice.OneIn(2)) DeleteRecords(anatomy, dice);
  const std::size_t index = dice.Below(anatomy.records.size() + 1);
  anatomy.records.insert(anatomy.records.begin() + At(index),
                         other.records.begin() + At(from.begin),
                         other.records.begin() + At(from.end));
}

}  // namespace perftape::fuzz
