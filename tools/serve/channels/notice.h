// SPDX-License-Identifier: Apache-2.0
// Notices: what a process of the service sends to one that cannot open files, through a channel of
// messages (channel.h): a file, or a text as a file in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "tools/serve/channels/channel.h"

namespace perftape::serve {

struct Notice {
  enum class Kind : std::uint32_t {
    kRecording,     // the answer to a RecordCommand; without a file: it failed
    kEvents,        // the events that are recorded from now on, one on each line; none: nothing is
    kToken,         // the token of requests from now on
    kHeaders,       // the headers of pushes from now on, one on each line
    kCertificates,  // the certificates for pushes from now on, in PEM
    kWindow,        // a window of the importer (window.h)
    kNames,         // of pods and containers (cri/name_lines.h); without a file: there are none
  };

  Kind kind = Kind::kRecording;
  // Of kRecording: that of the command. Of kEvents: since when, by CLOCK_MONOTONIC.
  std::uint64_t id = 0;
  UniqueFd file = {};
};

// Fail with kIo.
Status SendNotice(int channel, const Notice& notice, Waiting waiting = Waiting::kNo);
Status SendText(int channel, Notice::Kind kind, std::string_view text, std::uint64_t id = 0);
// Returns nothing at the end of the channel, and if it does not block and has none. Messages of
// another size are ignored.
std::optional<Notice> ReceiveNotice(int channel);
// Returns the content of the file. Fails as MappedFile::FromFd does.
Result<std::string> TextOf(const Notice& notice);

}  // namespace perftape::serve
