// SPDX-License-Identifier: Apache-2.0
// What the file of a recording says about the recording itself.
#pragma once

#include "formats/bundle/recording_notes.h"
#include "record/summary.h"

namespace perftape::record {

// Returns the notes of all that `summary` counts, from the start of the recording on.
bundle::RecordingNotes NotesOf(const RecordSummary& summary);

}  // namespace perftape::record
