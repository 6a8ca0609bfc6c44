// SPDX-License-Identifier: Apache-2.0
// Mutations that many records follow from: what an event records, and what is compressed.
#pragma once

#include "tests/fuzz/anatomy.h"
#include "tests/fuzz/dice.h"

namespace perftape::fuzz {

// Turns a bit of sample_type, of read_format, of branch_sample_type or sample_id_all in an
// attribute, and writes all records of the event anew as the attribute now says. What is new in
// them gets plausible contents. Of a file in the other byte order only the attribute changes.
void ChangeSampleLayout(Anatomy& anatomy, Dice& dice);

// Puts a number into a field of an attribute, and leaves its records alone.
void ChangeAttr(Anatomy& anatomy, Dice& dice);

// Puts a run of records into COMPRESSED or COMPRESSED2 records; in the file's byte order, if that
// is little-endian.
void Compress(Anatomy& anatomy, Dice& dice);

// Puts what is inside COMPRESSED records in their place.
void Decompress(Anatomy& anatomy, Dice& dice);

}  // namespace perftape::fuzz
