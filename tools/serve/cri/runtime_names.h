// SPDX-License-Identifier: Apache-2.0
// The names that a container runtime gives, as a recorder sees them: another process asks, and the
// recorder never waits for it.
//
//   recorder   a byte ─▶   process   CRI ─▶ runtime
//              ◀─ lines (name_lines.h)
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "formats/base/file.h"
#include "record/scope/name_source.h"
#include "tools/common/cli/console.h"
#include "tools/serve/cri/name_lines.h"

namespace perftape::serve {

// Asks at most once a second, only while there are unknown ids, and for each of them kMostAsks
// times: those that the runtime does not know are of others. Not thread-safe.
class RuntimeNames final : public record::NameSource {
 public:
  static constexpr unsigned kMostAsks = 5;

  // `channel` is connected to AnswerAsks. Without one, no name is known.
  explicit RuntimeNames(UniqueFd channel);

  record::ContainerNames Find(const cgroup::ContainerPath& path) override;
  std::uint64_t Answers() override;

 private:
  using Clock = std::chrono::steady_clock;

  void Want(std::string_view id);
  void Ask();
  void Receive();

  UniqueFd channel_;
  NodeNames names_;  // the last answer
  std::set<std::string, std::less<>> wanted_;
  std::map<std::string, unsigned, std::less<>> asks_;  // by unknown id
  bool is_asking_ = false;
  Clock::time_point next_ask_ = {};
  std::uint64_t answers_ = 0;
};

// Asks the runtime at `socket` for each byte that comes from the channel, until its end. Warns of
// the first failure. Gives up all privileges before, unless `sandboxed` is false. Returns the exit
// status.
int AnswerAsks(const std::string& socket, const UniqueFd& channel, bool sandboxed,
               cli::Console& console);

}  // namespace perftape::serve
