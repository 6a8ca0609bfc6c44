// SPDX-License-Identifier: Apache-2.0
// Notices: what a process of the service sends to one that cannot open files, through a channel of
// messages (processes.h): a file, or a text as a file in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::serve {

struct Notice {
  enum class Kind : std::uint32_t {
    kRecording,     // the answer to a RecordCommand; without a file: it failed
    kEvents,        // the names of the events that are recorded from now on, one on each line
    kToken,         // the token of requests from now on
    kHeaders,       // the headers of pushes from now on, one on each line
    kCertificates,  // the certificates for pushes from now on, in PEM
    kNames,         // of pods and containers (cri/name_lines.h); without a file: there are none
  };

  Kind kind = Kind::kRecording;
  std::uint64_t id = 0;  // of kRecording: that of the command
  UniqueFd file = {};
};

// Fail with kIo.
Status SendNotice(int channel, const Notice& notice);
Status SendText(int channel, Notice::Kind kind, std::string_view text);
// Returns nothing at the end of the channel, and if it does not block and has none. Messages of
// another size are ignored.
std::optional<Notice> ReceiveNotice(int channel);
// Returns the content of the file. Fails as MappedFile::FromFd does.
Result<std::string> TextOf(const Notice& notice);

}  // namespace perftape::serve
