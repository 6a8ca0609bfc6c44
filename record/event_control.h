// SPDX-License-Identifier: Apache-2.0
// Switches the events of a running recording on and off: at the times of --delay, and by the
// commands of --control. Executes the other commands, too.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/result.h"
#include "formats/bundle/recording_notes.h"
#include "record/control/control_channel.h"
#include "record/control/pause_log.h"
#include "record/input/record_input.h"
#include "record/losses/loss_account.h"
#include "record/machine/clock.h"
#include "record/recorder_options.h"

namespace perftape::record {

// Not thread-safe.
class EventControl {
 public:
  // The recording whose events are switched. All must outlive the EventControl.
  struct Recorded {
    RecordInput& input;
    LossAccount& losses;
    // Writes the last seconds to a file. Returns whether the recording keeps them.
    std::function<bool(std::string_view cause)> request_file;
  };

  // Opens the channel. `options` and `clock` must outlive the result. Returns the errors of
  // ControlChannel::Open.
  static Result<EventControl> Open(const ControlOptions& options, Clock& clock);

  // Sampling begins at `start_ns`: the times of --delay count from there.
  void Start(Recorded recorded, std::uint64_t start_ns);

  // Switches what is due, and executes some of the commands that have arrived. Call it whenever
  // poll_fd() is readable or Timeout() has passed. Fails if the kernel refuses to switch an event.
  Status Run();
  // Whether the recording must end.
  bool is_stop_requested() const { return is_stop_requested_; }
  // Whether a command of the last Run needs the end of a round.
  bool wants_round() const { return wants_round_; }

  // For poll(2); -1 if commands must wait, as after very many of them, or cannot arrive.
  int poll_fd() const;
  // The time until Run has something to do without a command, at most `longest`.
  std::chrono::milliseconds Timeout(std::chrono::milliseconds longest) const;

  // When events were off until `end_ns`. Makes no system call.
  std::vector<bundle::NotedPauses> Pauses(std::uint64_t end_ns) const;
  // Returns a sentence for each kind of command that failed, and if no event was ever on.
  std::vector<std::string> Warnings() const;

 private:
  enum class To : std::uint8_t { kOff, kOn };
  struct Step {
    std::uint64_t after_ns = 0;  // the start
    To to = To::kOn;
  };

  EventControl(const ControlOptions& options, Clock& clock, std::optional<ControlChannel> channel);
  Status Switch(std::span<const std::uint32_t> events, To to);
  Status SwitchAll(To to);
  Status SwitchNamed(const ControlCommand& command, To to);
  Status Execute(const ControlCommand& command);
  void ListEvents(const ControlCommand& command);
  void CountFailure(std::string why);

  const ControlOptions& options_;
  Clock& clock_;
  std::optional<ControlChannel> channel_;
  std::optional<Recorded> recorded_;  // from Start on, as the log
  std::optional<PauseLog> log_;
  std::vector<Step> steps_;
  std::size_t next_step_ = 0;
  std::uint64_t start_ns_ = 0;
  std::uint64_t quiet_until_ns_ = 0;  // commands wait
  std::size_t commands_in_a_row_ = 0;
  bool is_stop_requested_ = false, wants_round_ = false, was_ever_on_ = false;
  std::uint64_t failures_ = 0;
  std::string first_failure_;
};

}  // namespace perftape::record
