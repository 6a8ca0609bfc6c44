// SPDX-License-Identifier: Apache-2.0
// Mutations of single records and of their order. The records' sizes stay correct.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/fuzz/anatomy.h"
#include "tests/fuzz/dice.h"

namespace perftape::fuzz {

// Changes `size` bytes at `bytes`, which has space for `room`. Returns the new size.
// LLVMFuzzerMutate has this type.
using ChangeBytes = std::size_t (*)(std::uint8_t* bytes, std::size_t size, std::size_t room);

void ChangeType(Anatomy& anatomy, Dice& dice);
void ChangeMisc(Anatomy& anatomy, Dice& dice);
// Makes a record longer or shorter.
void Resize(Anatomy& anatomy, Dice& dice);
// Writes a special number to a field of a payload.
void ChangeField(Anatomy& anatomy, Dice& dice);
void ChangePayload(Anatomy& anatomy, Dice& dice, ChangeBytes change);

void InsertRecord(Anatomy& anatomy, Dice& dice);
void DeleteRecords(Anatomy& anatomy, Dice& dice);
void DuplicateRecords(Anatomy& anatomy, Dice& dice);
void SwapRecords(Anatomy& anatomy, Dice& dice);
// Moves a run of records to another position.
void MoveRecords(Anatomy& anatomy, Dice& dice);
// Replaces a run of records with one of `other`, which has the same byte order.
void SpliceRecords(Anatomy& anatomy, const Anatomy& other, Dice& dice);

// Records [begin, end) of `count`: at least one, usually few.
struct Run {
  std::size_t begin = 0, end = 0;
};
Run RunOf(std::size_t count, Dice& dice);

}  // namespace perftape::fuzz
