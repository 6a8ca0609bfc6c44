// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/header_mutations.h"

#include <algorithm>
#include <bit>

namespace perftape::fuzz {
namespace {

using perfdata::Container;
using perfdata::FileHeader;

constexpr std::size_t kEntry = 16;  // { u64 offset, size; }
constexpr unsigned kKnownFeatures = 36;

bool HasFeature(const Anatomy& anatomy, unsigned bit) {
  const auto word = Load<std::uint64_t>(anatomy.head, kFeaturesField + bit / 64 * 8, anatomy.order);
  return (word >> (bit % 64) & 1) != 0;
}

// Returns the number of features before this one in the table.
std::size_t EntriesBefore(const Anatomy& anatomy, unsigned end) {
  std::size_t count = 0;
  for (unsigned bit = 0; bit < end; ++bit) count += HasFeature(anatomy, bit) ? 1 : 0;
  return count;
}

std::size_t Entries(const Anatomy& anatomy) {
  return std::min(EntriesBefore(anatomy, perfdata::kFeatureBits), anatomy.tail.size() / kEntry);
}

void ChangeIn(Buffer& bytes, std::size_t begin, Dice& dice, ChangeBytes change) {
  if (begin >= bytes.size()) return;
  const std::size_t at = begin + dice.Below(bytes.size() - begin);
  const std::size_t room = std::min<std::size_t>(bytes.size() - at, 64);
  change(reinterpret_cast<std::uint8_t*>(bytes.data()) + at, room, room);
}

}  // namespace

void ToggleFeature(Anatomy& anatomy, Dice& dice) {
  if (anatomy.container == Container::kPipe) return;
  const auto bit =
      static_cast<unsigned>(dice.Below(dice.OneIn(8) ? perfdata::kFeatureBits : kKnownFeatures));
  const bool had = HasFeature(anatomy, bit);
  const std::size_t offset = std::min(EntriesBefore(anatomy, bit) * kEntry, anatomy.tail.size());
  const std::size_t field = kFeaturesField + bit / 64 * 8;
  const auto word = Load<std::uint64_t>(anatomy.head, field, anatomy.order);
  Store(anatomy.head, field, word ^ std::uint64_t{1} << (bit % 64), anatomy.order);
  if (dice.OneIn(4)) return;
  const auto at = anatomy.tail.begin() + static_cast<std::ptrdiff_t>(offset);
  if (had && anatomy.tail.size() - offset >= kEntry) {
    anatomy.tail.erase(at, at + kEntry);
  } else if (!had) {
    // The new section is some bytes at the file's end, which belong to the features before it.
    Buffer entry(kEntry);
    const std::uint64_t end = anatomy.head.size() + anatomy.data_size + anatomy.tail.size();
    const std::uint64_t size = 8 * dice.Below(32);
    Store<std::uint64_t>(entry, 0, end - std::min(size, end), anatomy.order);
    Store<std::uint64_t>(entry, 8, size, anatomy.order);
    anatomy.tail.insert(at, entry.begin(), entry.end());
  }
}

void ChangeFeatureTable(Anatomy& anatomy, Dice& dice) {
  if (anatomy.container == Container::kPipe || Entries(anatomy) == 0) return;
  const std::size_t field = dice.Below(Entries(anatomy)) * kEntry + dice.Below(2) * 8;
  const auto was = Load<std::uint64_t>(anatomy.tail, field, anatomy.order);
  Store<std::uint64_t>(anatomy.tail, field, dice.OneIn(2) ? dice.Word() : was + dice.Below(17) - 8,
                       anatomy.order);
}

void ChangeFeature(Anatomy& anatomy, Dice& dice, ChangeBytes change) {
  if (anatomy.container == Container::kPipe) return;
  const std::size_t table = Entries(anatomy) * kEntry;
  if (dice.OneIn(2) && anatomy.tail.size() >= table + 4) {
    // Counts and lengths are usually 32-bit words at offsets that are multiples of four.
    const std::size_t at = table + dice.Below((anatomy.tail.size() - table) / 4) * 4;
    Store(anatomy.tail, at, static_cast<std::uint32_t>(dice.Word()), anatomy.order);
  } else {
    ChangeIn(anatomy.tail, table, dice, change);
  }
}

void ChangeHeader(Anatomy& anatomy, Dice& dice, ChangeBytes change) {
  if (anatomy.container == Container::kPipe) return;
  constexpr std::size_t kFields[] = {kAttrSizeField,  kAttrsField,     kAttrsField + 8,
                                     kDataField + 16, kDataField + 24, kFeaturesField};
  if (dice.OneIn(2)) {
    Store(anatomy.head, dice.OneOf(kFields), dice.Word(), anatomy.order);
  } else {
    ChangeIn(anatomy.head, FileHeader::kSize, dice, change);
  }
}

void WriteWrongSize(Buffer& file, Dice& dice, ChangeBytes change) {
  if (file.empty()) return;
  switch (dice.Below(4)) {
    case 0:
      file.resize(dice.Below(file.size()));
      break;
    case 1: {
      const std::size_t words = std::min<std::size_t>(file.size(), FileHeader::kSize) / 8;
      if (words > 0) Store(file, dice.Below(words) * 8, dice.Word(), std::endian::native);
      break;
    }
    case 2: {
      // Usually a record's size: the last two bytes of a word.
      const std::size_t words = file.size() / 8;
      if (words == 0) break;
      Store(file, dice.Below(words) * 8 + 6, static_cast<std::uint16_t>(dice.Word()),
            std::endian::native);
      break;
    }
    default:
      ChangeIn(file, 0, dice, change);
  }
}

}  // namespace perftape::fuzz
