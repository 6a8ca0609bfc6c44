// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <optional>

#include "tests/fuzz/dice.h"
#include "tests/fuzz/event_mutations.h"
#include "tests/fuzz/header_mutations.h"

namespace perftape::fuzz {
namespace {

using Mutation = void (*)(Anatomy& anatomy, Dice& dice, ChangeBytes change);

template <auto kMutation>
void Ignoring(Anatomy& anatomy, Dice& dice, ChangeBytes /*change*/) {
  kMutation(anatomy, dice);
}

// Each mutation is as likely as it is often listed here.
constexpr Mutation kMutations[] = {
    &Ignoring<&ChangeField>,
    &Ignoring<&ChangeField>,
    &Ignoring<&ChangeField>,
    &Ignoring<&ChangeType>,
    &Ignoring<&ChangeMisc>,
    &Ignoring<&Resize>,
    &ChangePayload,
    &ChangePayload,
    &Ignoring<&InsertRecord>,
    &Ignoring<&DeleteRecords>,
    &Ignoring<&SwapRecords>,
    &Ignoring<&DuplicateRecords>,
    &Ignoring<&MoveRecords>,
    &Ignoring<&ChangeSampleLayout>,
    &Ignoring<&ChangeAttr>,
    &Ignoring<&ChangeSampleLayout>,
    &Ignoring<&Compress>,
    &Ignoring<&Decompress>,
    &Ignoring<&ToggleFeature>,
    &Ignoring<&ChangeFeatureTable>,
    &ChangeFeature,
    &ChangeFeature,
    &ChangeHeader,
};

// Returns as many of the records as fit.
Buffer AssembledWithin(Anatomy& anatomy, std::size_t max_size) {
  std::size_t size = anatomy.head.size() + anatomy.torn.size() + anatomy.tail.size();
  std::size_t fits = 0;
  while (fits < anatomy.records.size() && size + anatomy.records[fits].size() <= max_size) {
    size += anatomy.records[fits++].size();
  }
  anatomy.records.resize(fits);
  Buffer file = Assemble(anatomy);
  if (file.size() > max_size) file.resize(max_size);
  return file;
}

Buffer MutatedAsBytes(Bytes file, const MutationOptions& options) {
  Buffer bytes(file.begin(), file.end());
  bytes.resize(std::max(options.max_size, file.size()));
  const std::size_t size = options.change_bytes(reinterpret_cast<std::uint8_t*>(bytes.data()),
                                                file.size(), options.max_size);
  bytes.resize(size);
  return bytes;
}

}  // namespace

Buffer Mutated(Bytes file, const MutationOptions& options) {
  Dice dice(options.seed);
  std::optional<Anatomy> anatomy = Dissect(file);
  if (!anatomy) return MutatedAsBytes(file, options);
  for (std::size_t left = 1 + dice.Below(4); left > 0; --left) {
    dice.OneOf(kMutations)(*anatomy, dice, options.change_bytes);
  }
  if (options.framing == Framing::kKept) anatomy->torn.clear();
  Buffer mutated = AssembledWithin(*anatomy, options.max_size);
  if (options.framing == Framing::kMayBreak && dice.OneIn(8)) {
    WriteWrongSize(mutated, dice, options.change_bytes);
  }
  return mutated;
}

Buffer Crossed(Bytes file, Bytes other, const MutationOptions& options) {
  Dice dice(options.seed);
  std::optional<Anatomy> anatomy = Dissect(file);
  const std::optional<Anatomy> second = Dissect(other);
  if (anatomy && second && anatomy->order == second->order) {
    SpliceRecords(*anatomy, *second, dice);
    return AssembledWithin(*anatomy, options.max_size);
  }
  const Bytes front = file.first(dice.Below(file.size() + 1));
  const Bytes back = other.subspan(dice.Below(other.size() + 1));
  Buffer crossed(front.begin(), front.end());
  crossed.insert(crossed.end(), back.begin(), back.end());
  crossed.resize(std::min(crossed.size(), options.max_size));
  return crossed;
}

}  // namespace perftape::fuzz
