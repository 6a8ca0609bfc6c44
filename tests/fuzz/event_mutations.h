// SPDX-License-Identifier: Apache-2.0
// Mutations that change many records: the fields that an event records, and compression.
#pragma once

#include "tests/fuzz/anatomy.h"
#include "tests/fuzz/dice.h"

namespace perftape::fuzz {

// Toggles a bit of sample_type, of read_format, of branch_sample_type or sample_id_all in an
// attribute, and re-encodes all records of the event in the new format. New fields get plausible
// contents. In a file of the other byte order only the attribute changes.
void ChangeSampleLayout(Anatomy& anatomy, Dice& dice);

// Writes a number to a field of an attribute, without changing its records.
void ChangeAttr(Anatomy& anatomy, Dice& dice);

// Puts a run of records into COMPRESSED or COMPRESSED2 records; in the file's byte order, if that
// is little-endian.
void Compress(Anatomy& anatomy, Dice& dice);

// Replaces COMPRESSED records with their contents.
void Decompress(Anatomy& anatomy, Dice& dice);

}  // namespace perftape::fuzz
