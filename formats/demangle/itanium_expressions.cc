// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "formats/demangle/itanium.h"
#include "formats/demangle/itanium_operators.h"

namespace perftape::demangle {
std::string ItaniumName::Expression() {
  if (!CanGoOn()) return {};
  ++depth_;
  std::string text;
  (void)Eat("gs");  // "::"
  const char c = Peek();
  if (c == 'L') {
    text = Literal();
  } else if (c == 'T') {
    text = TemplateParameter().text();
  } else if (c == 'f' && (Peek(1) == 'p' || Peek(1) == 'L')) {
    text = FunctionParameter();
  } else if (Eat("cl")) {
    text = Call();
  } else if (Eat("il")) {
    text = List("{", "}");
  } else if (Eat("tl")) {
    text = ReadType().text();
    text += List("{", "}");
  } else if (Eat("st") || Eat("ti")) {
    text = (text_[at_ - 1] == 't' ? "sizeof (" : "typeid (") + ReadType().text() + ")";
  } else if (Eat("sz")) {
    text = "sizeof (" + Expression() + ")";
  } else if (Eat("sZ")) {
    text = "sizeof...(" + Expression() + ")";
  } else if (Eat("nx")) {
    text = "noexcept (" + Expression() + ")";
  } else if (Eat("sp")) {
    text = Expression() + "...";
  } else if (Eat("dt")) {
    text = Expression();
    text += "." + Expression();
  } else if (Eat("cv")) {
    const std::string type = ReadType().text();
    text = "(" + type + ")" + (Eat("_") ? List("(", ")") : "(" + Expression() + ")");
  } else if (Eat("sr")) {
    text = ReadType().text();
    Name name;
    text += "::" + Unqualified({}, name);
    if (Peek() == 'I') text += Arguments(Scope::kType);
  } else if (Eat("rq") || Eat("rQ")) {
    text = RequiresExpression();
  } else if (IsDigit(c) || Peek() == 'S' || Peek() == 'N' || Eat("on")) {
    text = ReadName(Scope::kType).text;
  } else {
    text = OperatorExpression();
  }
  --depth_;
  return text;
}

// L type value E, or L _Z encoding E
std::string ItaniumName::Literal() {
  if (!Eat("L")) return Fail();
  if (Eat("_Z")) {
    std::string text = Encoding(true);
    return Eat("E") ? text : Fail();
  }
  const Type type = ReadType();
  const std::size_t end = text_.find('E', at_);
  if (has_failed_ || end == std::string_view::npos) return Fail();
  std::string value(text_.substr(at_, end - at_));
  at_ = end + 1;
  if (value.starts_with('n')) value[0] = '-';
  const std::string name = type.text();
  if (name == "int") return value;
  if (name == "bool" && (value == "0" || value == "1")) return value == "1" ? "true" : "false";
  if (name == "unsigned int") return value + "u";
  if (name == "long") return value + "l";
  if (name == "unsigned long") return value + "ul";
  return "(" + name + ")" + value;
}

std::string ItaniumName::FunctionParameter() {
  if (Eat("fpT")) return "this";
  if (Eat("fL")) {
    (void)Number();
    if (!Eat("p")) return Fail();
  } else {
    at_ += 2;
  }
  while (Eat("r") || Eat("V") || Eat("K")) {
  }
  const std::size_t number = Peek() == '_' ? 1 : Number() + 2;
  return Eat("_") ? "{parm#" + std::to_string(number) + "}" : Fail();
}

std::string ItaniumName::Call() {
  std::string function = Expression();
  return function + List("(", ")");
}

// Expressions up to 'E'.
std::string ItaniumName::List(std::string_view open, std::string_view close) {
  std::string text(open);
  bool is_first = true;
  while (!has_failed_ && !Eat("E")) {
    if (!is_first) text += ", ";
    is_first = false;
    text += Expression();
  }
  return text.append(close);
}

std::string ItaniumName::OperatorExpression() {
  const OperatorName* const found = FindOperator(text_.substr(at_));
  if (found == nullptr) return Fail();
  at_ += 2;
  const std::string symbol(found->symbol);
  if (found->operands == 1) {
    if (found->code == "at") return symbol + "(" + ReadType().text() + ")";
    return symbol + "(" + Expression() + ")";
  }
  std::string first = Expression();
  if (found->code == "pt") return first + "->" + Expression();
  std::string second = Expression();
  if (found->code == "ix") return first + "[" + second + "]";
  if (found->operands == 3) return "(" + first + ")?(" + second + ") : (" + Expression() + ")";
  return "(" + first + ")" + symbol + "(" + second + ")";
}

// rq requirement+ E, or rQ parameters _ requirement+ E
std::string ItaniumName::RequiresExpression() {
  std::string text = "requires ";
  if (text_[at_ - 1] == 'Q') {
    std::string parameters;
    while (!has_failed_ && !Eat("_")) {
      parameters += (parameters.empty() ? "" : ", ") + ReadType().text();
    }
    text += "(" + parameters + ") ";
  }
  text += "{";
  while (!has_failed_ && !Eat("E")) {
    if (Eat("X")) {
      text += Expression();
      if (Eat("N")) text += " noexcept";
      if (Eat("R")) text += " -> " + ReadName(Scope::kType).text;
    } else if (Eat("T")) {
      text += "typename " + ReadType().text();
    } else if (Eat("Q")) {
      text += "requires " + Expression();
    } else {
      return Fail();
    }
    text += ";";
  }
  return text + "}";
}

}  // namespace perftape::demangle
