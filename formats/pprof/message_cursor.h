// SPDX-License-Identifier: Apache-2.0
// Reads the messages of an encoded profile one at a time, so that its tables need not be in memory:
//
//   MessageCursor<Sample> samples(encoded);
//   while (true) {
//     TRY_ASSIGN(const Sample* const sample, samples.Next());
//     if (sample == nullptr) break;
//     ...
//   }
//
// In protobuf, tables may be in any order and interleaved. So each cursor reads the whole file and
// returns only its own messages. References between tables are not checked here.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/pprof/messages.h"

namespace perftape::pprof {

// `Message` is Sample, Mapping, Location or Function. The bytes must be uncompressed and outlive
// the cursor.
template <class Message>
class MessageCursor {
 public:
  explicit MessageCursor(Bytes encoded) : encoded_(encoded), rest_(encoded) {}

  // The next message, valid until the next call. Null after the last. Returns kCorrupt with the
  // offset if the protobuf is damaged or incomplete.
  Result<const Message*> Next();

 private:
  Bytes encoded_, rest_;
  Message message_;
};

// Decodes the fields outside of the tables. Returns kCorrupt as Next does.
Result<Header> DecodeHeader(Bytes encoded);

// Decodes the string table. The texts are views of `encoded`. Returns kCorrupt as Next does, and
// for more than `limit` texts: an empty text needs 2 bytes in the file, but 16 here.
Result<std::vector<std::string_view>> DecodeTexts(Bytes encoded, std::size_t limit);

// Whether these may be the first bytes of an uncompressed profile: all fields are those of
// profile.proto, and at least one cannot occur in a text file. True for a profile that is damaged
// later; never for text or a perf.data.
bool LooksLikeProfile(Bytes beginning);

}  // namespace perftape::pprof
