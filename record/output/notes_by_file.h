// SPDX-License-Identifier: Apache-2.0
// What each file of a recording says about the recording.
#pragma once

#include "formats/bundle/recording_notes.h"

namespace perftape::record {

// The notes of each file of a rotating recording, from those of the whole recording. Not
// thread-safe.
class NotesByFile {
 public:
  // `so_far` are those of the recording until the end of a file. Returns what is new since the end
  // of the last file: counts, and absences that had not ended. Of the rates, also the one that was
  // in force at the beginning.
  bundle::RecordingNotes Next(const bundle::RecordingNotes& so_far);

 private:
  bundle::RecordingNotes before_;
};

}  // namespace perftape::record
