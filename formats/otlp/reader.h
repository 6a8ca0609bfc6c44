// SPDX-License-Identifier: Apache-2.0
// Reads the messages of an encoded ProfilesData one at a time, so that only small ones are in
// memory:
//
//   TableCursor<Function> functions(file);            ProfileCursor profiles(file);
//   while (true) {                                    while (true) {
//     TRY_ASSIGN(const auto* const entry,               TRY_ASSIGN(const bool is_one,
//     profiles.Next());
//                functions.Next());                     if (!is_one) break;
//     if (entry == nullptr) break;                      ... profiles.NextSample() ...
//   }                                                 }
//
// Indexes are not checked here. All fail with kCorrupt and the offset if the protobuf is damaged or
// incomplete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/otlp/messages.h"

namespace perftape::otlp {

// Returns the dictionary of a file; empty bytes if it has none. Fails with kCorrupt if it has two:
// these are joined files, whose indexes mean different tables.
Result<Bytes> FindDictionary(Bytes file);

// `Entry` is Mapping, Location, Function, Link, KeyValueAndUnit or Stack. `dictionary` is a part of
// `file`, whose bytes must outlive the cursor and what it returns.
template <class Entry>
class TableCursor {
 public:
  TableCursor(Bytes dictionary, Bytes file) : rest_(dictionary), file_(file) {}

  // The next entry, valid until the next call. Null after the last.
  Result<const Entry*> Next();

 private:
  Bytes rest_, file_;
  Entry entry_;
};

// Decodes the string table. The texts are views of `file`. Also fails with kCorrupt for more than
// `limit` texts: an empty text needs 2 bytes in the file, but 16 here.
Result<std::vector<std::string_view>> DecodeTexts(Bytes dictionary, Bytes file, std::size_t limit);

class ProfileCursor {
 public:
  explicit ProfileCursor(Bytes file) : file_(file), rest_(file) {}

  // Moves to the next profile. Returns false after the last one.
  Result<bool> Next();

  // Of the current profile, valid until Next.
  const Resource& resource() const { return resource_; }
  const Scope& scope() const { return scope_; }
  const ProfileHeader& header() const { return header_; }
  // The numbers of its resource and of its scope in the file, from 1.
  std::size_t resource_number() const { return resource_number_; }
  std::size_t scope_number() const { return scope_number_; }

  // Its next sample, valid until the next call. Null after the last.
  Result<const Sample*> NextSample();

 private:
  Result<bool> NextInScope();
  Status BeginResource(Bytes encoded);
  Status BeginScope(Bytes encoded);

  Bytes file_;
  Bytes rest_;           // of the file
  Bytes resource_rest_;  // of the current resource: its scopes
  Bytes scope_rest_;     // of the current scope: its profiles
  Bytes profile_rest_;   // of the current profile: its samples
  Resource resource_;
  Scope scope_;
  ProfileHeader header_;
  Sample sample_;
  std::size_t resource_number_ = 0, scope_number_ = 0;
};

// Whether these may be the first bytes of an uncompressed ProfilesData: all fields are those of
// OTLP, and at least one byte cannot occur in a text file.
bool LooksLikeProfilesData(Bytes beginning);

}  // namespace perftape::otlp
