// SPDX-License-Identifier: Apache-2.0
// A request from another thread: a rotating recording begins its next file now, or a flight
// recording writes one.
#pragma once

#include <sys/eventfd.h>

#include "formats/base/file.h"

namespace perftape::record {

// Thread-safe.
class SwitchRequest {
 public:
  SwitchRequest() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  void Request() { (void)eventfd_write(fd_.get(), 1); }
  // Returns whether there was a request since the last call.
  bool Consume() {
    eventfd_t count = 0;
    return eventfd_read(fd_.get(), &count) == 0;
  }
  // Becomes readable when there is a request. It belongs to this object.
  int poll_fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
};

}  // namespace perftape::record
