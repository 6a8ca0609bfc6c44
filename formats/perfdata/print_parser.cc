// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/print_parser.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <utility>

#include "formats/base/text.h"

namespace perftape::perfdata {
namespace {

using Expression = PrintExpression;
using Kind = Expression::Kind;

// Binary operators by precedence, the strongest last. A longer one comes before its beginning.
struct Operator {
  std::string_view text;
  int precedence;
};
constexpr Operator kOperators[] = {
    {"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<<", 8}, {">>", 8},
    {"<=", 7}, {">=", 7}, {"|", 3},  {"^", 4},  {"&", 5},  {"<", 7},
    {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

struct CastType {
  std::string_view name;
  unsigned bits;
  bool is_signed;
};
constexpr CastType kCastTypes[] = {
    {"unsigned char", 8, false},
    {"u8", 8, false},
    {"__u8", 8, false},
    {"char", 8, true},
    {"s8", 8, true},
    {"unsigned short", 16, false},
    {"u16", 16, false},
    {"__u16", 16, false},
    {"short", 16, true},
    {"s16", 16, true},
    {"unsigned int", 32, false},
    {"u32", 32, false},
    {"__u32", 32, false},
    {"unsigned", 32, false},
    {"int", 32, true},
    {"s32", 32, true},
};

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// A recursive-descent parser. Its functions return nothing for what they do not understand.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  std::optional<std::vector<Expression>> List() {
    std::vector<Expression> list;
    while (!Peek().empty()) {
      if (!list.empty() && !Accept(",")) return {};
      std::optional<Expression> one = Whole();
      if (!one) return {};
      list.push_back(*std::move(one));
    }
    return list;
  }

 private:
  using Maybe = std::optional<Expression>;

  // Deeper expressions are not the kernel's.
  static constexpr int kMostDepth = 200;

  std::string_view Peek() { return rest_ = Trimmed(rest_); }
  bool Accept(std::string_view token) {
    if (!Peek().starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  std::string_view Word() {
    const std::string_view text = Peek();
    const auto end = std::ranges::find_if_not(text, IsNameCharacter);
    const std::string_view word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    rest_.remove_prefix(word.size());
    return word;
  }

  Maybe Whole();
  Maybe Binary(int lowest);
  Maybe Unary();
  Maybe Primary();
  Maybe Parenthesized();
  Maybe Postfix(Maybe expression);
  Maybe Number();
  Maybe Named();
  Maybe Function(std::string_view name);
  Maybe Choices(Expression expression);
  std::optional<std::string_view> Quoted();
  Maybe FieldArgument(Kind kind);
  Maybe Operands(Kind kind, std::string_view between, std::size_t count);

  std::string_view rest_;
  int depth_ = 0;
};

Parser::Maybe Parser::Whole() {
  if (++depth_ > kMostDepth) return {};
  Maybe condition = Binary(1);
  if (condition && Accept("?")) {
    Maybe yes = Whole();
    if (!yes || !Accept(":")) return {};
    Maybe no = Whole();
    if (!no) return {};
    Expression chosen{.kind = Kind::kConditional};
    for (Maybe* part : {&condition, &yes, &no}) chosen.operands.push_back(*std::move(*part));
    condition = std::move(chosen);
  }
  --depth_;
  return condition;
}

Parser::Maybe Parser::Binary(int lowest) {
  Maybe left = Unary();
  while (left) {
    const std::string_view text = Peek();
    const auto* const found = std::ranges::find_if(
        kOperators, [&](const Operator& one) { return text.starts_with(one.text); });
    if (found == std::end(kOperators) || found->precedence < lowest) break;
    rest_.remove_prefix(found->text.size());
    Maybe right = Binary(found->precedence + 1);
    if (!right) return {};
    Expression joined{.kind = Kind::kBinary};
    joined.operation = found->text;
    joined.operands.push_back(*std::move(left));
    joined.operands.push_back(*std::move(right));
    left = std::move(joined);
  }
  return left;
}

Parser::Maybe Parser::Unary() {
  if (++depth_ > kMostDepth) return {};
  Maybe result;
  const std::string_view text = Peek();
  const bool is_unary =
      !text.empty() && (text[0] == '!' || text[0] == '~' || text[0] == '-' || text[0] == '+');
  if (is_unary) {
    rest_.remove_prefix(1);
    if (Maybe operand = Unary()) {
      Expression unary{.kind = Kind::kUnary};
      unary.operation = text.substr(0, 1);
      unary.operands.push_back(*std::move(operand));
      result = std::move(unary);
    }
  } else {
    result = Primary();
  }
  --depth_;
  return result;
}

Parser::Maybe Parser::Primary() {
  const std::string_view text = Peek();
  if (text.empty()) return {};
  if (text[0] == '(') return Postfix(Parenthesized());
  if (text[0] == '"') {
    const auto quoted = Quoted();
    if (!quoted) return {};
    Expression expression{.kind = Kind::kText};
    expression.text = *quoted;
    return expression;
  }
  if (std::isdigit(static_cast<unsigned char>(text[0])) != 0) return Number();
  return Postfix(Named());
}

// An expression, or a cast and what it applies to.
Parser::Maybe Parser::Parenthesized() {
  Accept("(");
  const std::string_view before = rest_;
  std::string type;
  while (true) {
    const std::string_view word = Word();
    if (word.empty()) break;
    if (!type.empty()) type += ' ';
    type += word;
  }
  bool is_pointer = false;
  while (Accept("*")) is_pointer = true;
  const bool is_type = !type.empty() && type != "REC" &&
                       std::isdigit(static_cast<unsigned char>(type[0])) == 0 && Accept(")");
  const std::string_view next = is_type ? Peek() : std::string_view();
  const bool has_operand = !next.empty() && (IsNameCharacter(next[0]) || next[0] == '(' ||
                                             next[0] == '-' || next[0] == '~' || next[0] == '!');
  if (has_operand) {
    Maybe operand = Unary();
    if (!operand) return {};
    const auto* const found = std::ranges::find(kCastTypes, type, &CastType::name);
    if (is_pointer || found == std::end(kCastTypes)) return operand;
    Expression cast{.kind = Kind::kCast};
    cast.cast_bits = found->bits;
    cast.cast_is_signed = found->is_signed;
    cast.operands.push_back(*std::move(operand));
    return cast;
  }
  rest_ = before;
  Maybe inside = Whole();
  if (!inside || !Accept(")")) return {};
  return inside;
}

Parser::Maybe Parser::Postfix(Maybe expression) {
  if (!expression || expression->kind != Kind::kField || !Accept("[")) return expression;
  Maybe index = Whole();
  if (!index || !Accept("]")) return {};
  expression->kind = Kind::kElement;
  expression->operands.push_back(*std::move(index));
  return expression;
}

Parser::Maybe Parser::Number() {
  const std::string_view word = Word();
  const bool is_hex = word.starts_with("0x") || word.starts_with("0X");
  const std::string_view digits = is_hex ? word.substr(2) : word;
  Expression expression;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(),
                                            expression.number, is_hex ? 16 : 10);
  if (error != std::errc()) return {};
  for (const char* suffix = end; suffix != digits.data() + digits.size(); ++suffix) {
    if (std::string_view("uUlL").find(*suffix) == std::string_view::npos) return {};
  }
  return expression;
}

Parser::Maybe Parser::Named() {
  const std::string_view name = Word();
  if (name.empty()) return {};
  if (name == "REC") {
    if (!Accept("->")) return {};
    Expression field{.kind = Kind::kField};
    field.text = Word();
    if (field.text.empty()) return {};
    return field;
  }
  if (Accept("(")) return Function(name);
  // The name of a constant, whose number libtraceevent does not know, too (eval_flag).
  Expression constant;
  constant.number = ~std::uint64_t{0};
  return constant;
}

Parser::Maybe Parser::Function(std::string_view name) {
  if (name == "__get_str" || name == "__get_rel_str" || name == "__get_dynamic_array" ||
      name == "__get_rel_dynamic_array") {
    return FieldArgument(Kind::kField);
  }
  if (name == "__get_dynamic_array_len" || name == "__get_rel_dynamic_array_len") {
    return FieldArgument(Kind::kFieldLength);
  }
  if (name == "__print_hex") return Operands(Kind::kHex, " ", 2);
  if (name == "__print_hex_str") return Operands(Kind::kHex, "", 2);
  if (name == "__print_array") return Operands(Kind::kArray, ",", 3);
  const bool is_flags = name == "__print_flags";
  if (!is_flags && name != "__print_symbolic") return {};
  Maybe value = Whole();
  if (!value || !Accept(",")) return {};
  Expression expression{.kind = is_flags ? Kind::kFlags : Kind::kSymbolic};
  expression.operands.push_back(*std::move(value));
  if (is_flags) {
    const auto delimiter = Quoted();
    if (!delimiter || !Accept(",")) return {};
    expression.text = *delimiter;
  }
  return Choices(std::move(expression));
}

Parser::Maybe Parser::Choices(Expression expression) {
  const TracepointFormat no_fields;
  do {
    if (!Accept("{")) return {};
    const Maybe value = Whole();
    if (!value || !Accept(",")) return {};
    const std::optional<std::string_view> text = Quoted();
    if (!text && !Whole()) return {};  // the last entry has a null pointer
    if (!Accept("}")) return {};
    if (text) {
      expression.choices.push_back({NumberOf(*value, {no_fields, {}}), *text});
    }
  } while (Accept(","));
  if (!Accept(")")) return {};
  return expression;
}

// A text between quotes, without interpreting escapes.
std::optional<std::string_view> Parser::Quoted() {
  if (!Peek().starts_with('"')) return {};
  for (std::size_t i = 1; i < rest_.size(); ++i) {
    if (rest_[i] == '\\') {
      ++i;
    } else if (rest_[i] == '"') {
      const std::string_view text = rest_.substr(1, i - 1);
      rest_.remove_prefix(i + 1);
      return text;
    }
  }
  return {};
}

Parser::Maybe Parser::FieldArgument(Kind kind) {
  Expression field{.kind = kind};
  field.text = Word();
  if (field.text.empty() || !Accept(")")) return {};
  return field;
}

Parser::Maybe Parser::Operands(Kind kind, std::string_view between, std::size_t count) {
  Expression expression{.kind = kind};
  expression.text = between;
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0 && !Accept(",")) return {};
    Maybe operand = Whole();
    if (!operand) return {};
    expression.operands.push_back(*std::move(operand));
  }
  if (!Accept(")")) return {};
  return expression;
}

}  // namespace

std::optional<std::vector<PrintExpression>> ParsePrintExpressions(std::string_view text) {
  return Parser(text).List();
}

}  // namespace perftape::perfdata
