// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/push/push_queue.h"

namespace perftape::serve {

void PushQueue::Add(Payload payload) {
  bytes_ += payload.body.size();
  payloads_.push_back(std::move(payload));
  while (bytes_ > most_bytes_) Drop(PushDrop::kQueueFull);
  counts_.queue_bytes = bytes_;
}

Payload PushQueue::Pop() {
  Payload payload = std::move(payloads_.front());
  payloads_.pop_front();
  bytes_ -= payload.body.size();
  counts_.queue_bytes = bytes_;
  return payload;
}

void PushQueue::DropAll(PushDrop cause) {
  while (!payloads_.empty()) Drop(cause);
}

void PushQueue::Drop(PushDrop cause) {
  counts_.dropped(cause) += Pop().samples;
}

}  // namespace perftape::serve
