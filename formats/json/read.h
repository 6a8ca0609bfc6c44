// SPDX-License-Identifier: Apache-2.0
// Reads a JSON text of any size as a sequence of events, without a document in memory. All readers
// of JSON are built on it: json::Walk for the parts that rules name, json::Parse for small
// documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "formats/base/result.h"

namespace perftape::json {

// Gets the events in the order of the text. Each function returns whether to go on. Views are valid
// during the call; texts are UTF-8.
class Handler {
 public:
  Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  virtual ~Handler() = default;

  virtual bool BeginObject() = 0;
  virtual bool EndObject() = 0;
  virtual bool BeginList() = 0;
  virtual bool EndList() = 0;
  virtual bool Key(std::string_view key) = 0;  // of the value that comes next
  virtual bool Null() = 0;
  virtual bool Boolean(bool value) = 0;
  virtual bool Unsigned(std::uint64_t value) = 0;  // an integer without a sign
  virtual bool Integer(std::int64_t value) = 0;    // a negative integer
  virtual bool Real(double value) = 0;             // with a fraction or exponent, or out of range
  virtual bool Text(std::string_view text) = 0;

  // What the handler refused, if it did.
  const std::optional<std::string>& refusal() const { return refusal_; }

 protected:
  // Returns false. Read then fails with this message after the offset: "at 0x7f: <message>".
  bool Refuse(std::string message) {
    refusal_ = std::move(message);
    return false;
  }

 private:
  std::optional<std::string> refusal_;
};

// Deeper texts are refused.
inline constexpr std::size_t kDeepest = 1024;

// Fails with kCorrupt and the offset if the text is not JSON or the handler refuses it, and with
// kUnsupported if objects and lists are more than `deepest` deep. The handler may have been called
// before.
Status Read(std::string_view text, Handler& handler, std::size_t deepest = kDeepest);

}  // namespace perftape::json
