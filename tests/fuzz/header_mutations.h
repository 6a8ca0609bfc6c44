// SPDX-License-Identifier: Apache-2.0
// Mutations of what stands around the records. A pipe has its features among the records; of it,
// nothing changes here.
#pragma once

#include "tests/fuzz/anatomy.h"
#include "tests/fuzz/dice.h"
#include "tests/fuzz/record_mutations.h"

namespace perftape::fuzz {

// Sets or clears a feature's bit, with the feature's entry in the table or without it.
void ToggleFeature(Anatomy& anatomy, Dice& dice);
// Changes an offset or a size in the feature table.
void ChangeFeatureTable(Anatomy& anatomy, Dice& dice);
// Changes what is in a feature's section, or in any other byte behind the data.
void ChangeFeature(Anatomy& anatomy, Dice& dice, ChangeBytes change);
// Puts a number into the places of attributes and event types, or changes their bytes.
void ChangeHeader(Anatomy& anatomy, Dice& dice, ChangeBytes change);

// Of a whole file: a size of the data, or of a record, or of anything, that is not true; or the end
// cut off. What comes out need not be walked through by its records.
void Lie(Buffer& file, Dice& dice, ChangeBytes change);

}  // namespace perftape::fuzz
