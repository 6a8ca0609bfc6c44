// SPDX-License-Identifier: Apache-2.0
// An encoded profile one message after the other, so that its tables need not be in memory:
//
//   MessageCursor<Sample> samples(encoded);
//   while (true) {
//     TRY_ASSIGN(const Sample* const sample, samples.Next());
//     if (sample == nullptr) break;
//     ...
//   }
//
// protobuf lets tables come in any order, and their messages mixed: each cursor runs through the
// whole file and takes its own. What refers to another table is not checked here.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/pprof/messages.h"

namespace perftape::pprof {

// Of Sample, Mapping, Location or Function. The bytes, which are not compressed, must outlive it.
template <class Message>
class MessageCursor {
 public:
  explicit MessageCursor(Bytes encoded) : encoded_(encoded), rest_(encoded) {}

  // The next one, valid until the next call; null behind the last. kCorrupt, naming the offset,
  // where the protobuf is damaged or cut.
  Result<const Message*> Next();

 private:
  Bytes encoded_, rest_;
  Message message_;
};

// What is not in tables. kCorrupt as above.
Result<Header> DecodeHeader(Bytes encoded);

// The string table: views of the bytes. kCorrupt as above, and where it has more than `limit`
// texts: empty ones take 2 bytes in the file and 16 here.
Result<std::vector<std::string_view>> DecodeTexts(Bytes encoded, std::size_t limit);

// Whether these may be the first bytes of a profile that is not compressed: it has only fields of
// profile.proto as far as they reach, and one that no text has. True for a profile that is damaged
// behind its beginning; never for text, nor for a perf.data.
bool LooksLikeProfile(Bytes beginning);

}  // namespace perftape::pprof
