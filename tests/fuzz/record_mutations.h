// SPDX-License-Identifier: Apache-2.0
// Mutations of single records and of their order. The records' sizes stay right.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/fuzz/anatomy.h"
#include "tests/fuzz/dice.h"

namespace perftape::fuzz {

// Changes `size` bytes at `bytes`, which may become as many as `room`; returns how many they are.
// LLVMFuzzerMutate is one.
using ChangeBytes = std::size_t (*)(std::uint8_t* bytes, std::size_t size, std::size_t room);

void ChangeType(Anatomy& anatomy, Dice& dice);
void ChangeMisc(Anatomy& anatomy, Dice& dice);
// Makes a record longer or shorter.
void Resize(Anatomy& anatomy, Dice& dice);
// Puts a telling number into a field of a payload.
void ChangeField(Anatomy& anatomy, Dice& dice);
void ChangePayload(Anatomy& anatomy, Dice& dice, ChangeBytes change);

void InsertRecord(Anatomy& anatomy, Dice& dice);
void DeleteRecords(Anatomy& anatomy, Dice& dice);
void DuplicateRecords(Anatomy& anatomy, Dice& dice);
void SwapRecords(Anatomy& anatomy, Dice& dice);
// Takes out a run of records and puts it in elsewhere.
void MoveRecords(Anatomy& anatomy, Dice& dice);
// Puts a run of the records of `other`, which has the same byte order, in place of a run.
void SpliceRecords(Anatomy& anatomy, const Anatomy& other, Dice& dice);

// Records [begin, end) of `count`, most often few, at least one.
struct Run {
  std::size_t begin = 0, end = 0;
};
Run RunOf(std::size_t count, Dice& dice);

}  // namespace perftape::fuzz
