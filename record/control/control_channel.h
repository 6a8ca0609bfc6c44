// SPDX-License-Identifier: Apache-2.0
// The commands that another process sends to a running recording, and the answers to them. The
// other side is not trusted: nothing that it does or fails to do makes the recorder wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "record/control/control_spec.h"

namespace perftape::record {

enum class ControlVerb : std::uint8_t {
  kEnable,
  kDisable,
  kListEvents,
  kSnapshot,
  kStop,
  kPing,
};

struct ControlCommand {
  ControlVerb verb = ControlVerb::kPing;
  std::string argument = {};  // an event, or an option of evlist; may be empty

  bool operator==(const ControlCommand&) const = default;
};

// What did not work.
struct ControlFailures {
  std::uint64_t unknown = 0;       // commands
  std::string first_unknown = {};  // shortened; any bytes
  std::uint64_t unanswered = 0;    // answers for which the other side left no room
  bool is_closed = false;          // the other side closed its descriptor; no command can arrive

  bool operator==(const ControlFailures&) const = default;
};

// Not thread-safe.
class ControlChannel {
 public:
  // Opens the FIFOs without waiting for the other side, for reading and writing: so the other side
  // may close and open them again. Descriptors are duplicated, and set to O_NONBLOCK, as perf does.
  // Fails with kIo if a FIFO cannot be opened or a descriptor is not open, and with
  // kInvalidArgument for files that are neither FIFOs nor sockets.
  static Result<ControlChannel> Open(const ControlSpec& spec);

  // Reads some of the commands that have arrived. A command ends with a newline, a zero byte, or
  // where nothing more can be read. Longer ones than any real one are unknown. Ignores empty ones.
  std::vector<ControlCommand> Read();
  // Sends perf's answer: "ack", a newline and a zero byte (tools/perf/util/evlist.c,
  // evlist__ctlfd_ack). The answer is dropped if there is no room for it.
  void Acknowledge();

  // Becomes readable when a command arrives; -1 if none can arrive. It belongs to this object.
  int poll_fd() const { return failures_.is_closed ? -1 : commands_.get(); }
  // Whether the last Read left something behind.
  bool has_more() const { return has_more_; }
  const ControlFailures& failures() const { return failures_; }

 private:
  ControlChannel(UniqueFd commands, UniqueFd acknowledgements)
      : commands_(std::move(commands)), acknowledgements_(std::move(acknowledgements)) {}
  void Add(char byte, std::vector<ControlCommand>& arrived);
  void EndCommand(std::vector<ControlCommand>& arrived);

  UniqueFd commands_, acknowledgements_;
  std::string pending_;       // the beginning of a command
  bool is_too_long_ = false;  // the rest of the command is ignored
  bool has_more_ = false;
  ControlFailures failures_;
};

// Reads one command, without its end. Nothing if it is unknown.
std::optional<ControlCommand> ParseControlCommand(std::string_view text);

}  // namespace perftape::record
