// SPDX-License-Identifier: Apache-2.0
// Mutations of the bytes around the records. They do not change a pipe, whose features are among
// the records.
#pragma once

#include "tests/fuzz/anatomy.h"
#include "tests/fuzz/dice.h"
#include "tests/fuzz/record_mutations.h"

namespace perftape::fuzz {

// Sets or clears a feature's bit, with or without the feature's entry in the table.
void ToggleFeature(Anatomy& anatomy, Dice& dice);
// Changes an offset or a size in the feature table.
void ChangeFeatureTable(Anatomy& anatomy, Dice& dice);
// Changes a feature's section, or any other byte behind the data.
void ChangeFeature(Anatomy& anatomy, Dice& dice, ChangeBytes change);
// Writes a number to a field of the header that locates attributes and event types, or changes its
// bytes.
void ChangeHeader(Anatomy& anatomy, Dice& dice, ChangeBytes change);

// Writes a wrong size of the data, of a record or of anything, or truncates the file. The records
// of the result may not be found by their sizes.
void WriteWrongSize(Buffer& file, Dice& dice, ChangeBytes change);

}  // namespace perftape::fuzz
