// SPDX-License-Identifier: Apache-2.0
// Empties rings on a thread of its own while the caller is busy with something else: between the
// moment a ring is mapped and the first flush, the kernel would fill it and then drop records.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::record {

class BackgroundDrain {
 public:
  // Calls `drain` whenever `readable_fd` is, and every few milliseconds, until Stop or the first
  // error. Whatever `drain` touches belongs to the thread until then; the caller must not.
  static Result<BackgroundDrain> Start(int readable_fd, std::function<Status()> drain);

  BackgroundDrain(BackgroundDrain&&) noexcept = default;
  BackgroundDrain& operator=(BackgroundDrain&&) = delete;
  ~BackgroundDrain();

  // Ends the thread, which gives back what it used. The first error of `drain`, if there was one.
  Status Stop();

 private:
  BackgroundDrain() = default;

  UniqueFd end_;                     // eventfd: written to, the thread ends
  std::unique_ptr<Status> outcome_;  // the thread's, until it was joined
  std::thread thread_;
};

}  // namespace perftape::record
