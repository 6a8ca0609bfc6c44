// SPDX-License-Identifier: Apache-2.0
// A small JSON document: what tools print with --json, and what a bundle notes. Large inputs are
// read with json::Walk or json::Read, large outputs written piece by piece with AppendString.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace perftape::json {

struct Member;
class Value;

using List = std::vector<Value>;
using Members = std::vector<Member>;  // in the order in which they were added

class Value {
 public:
  Value();  // null
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();

  Value(std::nullptr_t) : Value() {}
  Value(std::string text);
  Value(std::string_view text);  // may be any bytes
  Value(const char* text);
  template <std::same_as<bool> Bool>
  Value(Bool value) : Value(Scalar(value)) {}
  template <std::signed_integral Integer>
  Value(Integer value) : Value(Scalar(std::int64_t{value})) {}
  template <std::unsigned_integral Integer>
  requires(!std::same_as<Integer, bool>) Value(Integer value)
      : Value(Scalar(std::uint64_t{value})) {}
  template <std::floating_point Real>
  Value(Real value) : Value(Scalar(double{value})) {}

  // {{"probe", name}, {"calls", 7}} is an object.
  Value(std::initializer_list<Member> members);

  // A list of the elements, such as texts or numbers.
  template <class Element>
  Value(const std::vector<Element>& elements) : Value(ListOf(elements)) {}
  template <class Range>
  static Value ListOf(const Range& elements) {
    Value list = EmptyList();
    for (const auto& element : elements) list.push_back(element);
    return list;
  }

  static Value EmptyList();
  static Value EmptyObject();

  // To build. Null becomes a list or an object with its first element. `this` must be null or a
  // list, or null or an object.
  Value& push_back(Value element);
  Value& operator[](std::string_view key);  // added if it is missing
  // Adds a member, without a search for one with the same key.
  Value& AddMember(std::string key, Value value);
  // Adds the members of an object. Those that exist have the new values.
  void Merge(Value object);
  // Removes a member of an object, if it has it.
  void Erase(std::string_view key);

  bool is_object() const { return std::holds_alternative<Members>(value_); }
  bool is_list() const { return std::holds_alternative<List>(value_); }

  // The value; nothing if it is of another type. Numbers that are not negative are unsigned when
  // they were read.
  std::optional<bool> AsBool() const;
  std::optional<std::uint64_t> AsUnsigned() const;
  std::optional<std::int64_t> AsInteger() const;
  std::optional<double> AsNumber() const;
  const std::string* AsText() const;  // null: no text

  // The elements of a list; none of another value. Valid until the value changes.
  std::span<const Value> elements() const;
  std::span<Value> elements();
  // The members of an object; none of another value.
  std::span<const Member> members() const;
  // The member of an object with this key, the last one of several; null if there is none, or if
  // this is no object.
  const Value* Find(std::string_view key) const;

 private:
  friend class Writer;

  using Scalar = std::variant<bool, std::int64_t, std::uint64_t, double>;
  explicit Value(const Scalar& scalar);

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, List,
               Members>
      value_;
};

struct Member {
  std::string key;
  // Mutable, because the elements of an initializer list are const: they are moved out of it.
  mutable Value value = {};
};

}  // namespace perftape::json
