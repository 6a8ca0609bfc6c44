// SPDX-License-Identifier: Apache-2.0
// What each file of a recording says about the recording.
#pragma once

#include "formats/bundle/recording_notes.h"

namespace perftape::record {

// The notes of each file of a rotating recording, from those of the whole recording. Not
// thread-safe.
class NotesByFile {
 public:
  // `so_far` are the notes of the recording until the end of a file. Returns what is new since the
  // end of the previous file: counts, and absences that had not ended. The rates also include the
  // rate at the beginning of the file.
  bundle::RecordingNotes Next(const bundle::RecordingNotes& so_far);

 private:
  bundle::RecordingNotes before_;
};

}  // namespace perftape::record
