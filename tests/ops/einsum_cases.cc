// Cases of einsum, against a loop over every combination of its labels.
#include <map>
#include <string>
#include <vector>

#include "tensor/functions/einsum.h"
#include "tensor/functions/fill.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

/// einsum of an equation without ellipsis whose result is named; axes of size 1 broadcast.
Reference naive(const std::string& equation) {
  return [=](const Arrays& x) {
    const size_t arrow = equation.find("->");
    const std::string output = equation.substr(arrow + 2);
    std::vector<std::string> terms(1);
    for (const char c : equation.substr(0, arrow)) c == ',' ? terms.push_back("") : terms.back().push_back(c);
    std::map<char, int64_t> sizes;
    for (size_t t = 0; t < terms.size(); ++t)
      for (size_t i = 0; i < terms[t].size(); ++i) {
        int64_t& size = sizes.emplace(terms[t][i], 1).first->second;
        if (x[t].shape[i] != 1) size = x[t].shape[i];
      }
    Shape shape, summed;
    std::string labels = output;
    for (const char c : output) shape.push_back(sizes[c]);
    for (const auto& [c, size] : sizes)
      if (output.find(c) == std::string::npos) labels.push_back(c), summed.push_back(size);
    return Arrays{build(shape, [&](const Index& at) {
      double sum = 0;
      for (const Index& rest : indices_of(summed)) {
        double product = 1;
        for (size_t t = 0; t < terms.size(); ++t) {
          Index place;
          for (size_t i = 0; i < terms[t].size(); ++i) {
            const size_t label = labels.find(terms[t][i]);
            place.push_back(x[t].shape[i] == 1 ? 0 : label < at.size() ? at[label] : rest[label - at.size()]);
          }
          product *= x[t].at(place);
        }
        sum += product;
      }
      return sum;
    })};
  };
}

/// A row: the equation, the same without ellipsis and with `->`, shapes.
void add(Cases& cases, const std::string& equation, const std::string& plain,
         const std::vector<std::vector<Shape>>& shapes) {
  std::vector<Sample> samples;
  for (const std::vector<Shape>& list : shapes) {
    samples.emplace_back();
    for (const Shape& shape : list) samples.back().push_back(normal(shape));
  }
  cases.add("einsum " + equation, samples, CALL(einsum(equation, x)), naive(plain)).compares(DTypes{f32, f64}).loose(4);
}
void add(Cases& cases, const std::string& equation, const std::vector<std::vector<Shape>>& shapes) {
  add(cases, equation, equation, shapes);
}

void fails(Cases& cases, const std::string& equation, const std::vector<Tensor>& x, const std::string& what,
           bool shape) {
  const auto call = [=] { einsum(equation, x); };
  shape ? cases.error<ShapeError>("einsum " + equation, call, what)
        : cases.error<Error>("einsum " + equation, call, what);
}

/// What is multiplied element by element is summed in f32, and keeps the dtype of integers.
void add_dtypes(Cases& cases) {
  cases
      .add("einsum of many short rows", {{integers({20, 5}, -3, 3), integers({20, 5}, -3, 3)}},
           CALL(einsum("ij,ij->i", x)), naive("ij,ij->i"))
      .accepts(kNumbers);
}

void add_errors(Cases& cases) {
  const Tensor a = ones({2, 3}), b = ones({4, 5});
  fails(cases, "ij,jk->ik", {a, b}, "einsum([2, 3] f32, [4, 5] f32): label 'j' has size 3 before and 4 in operand 1",
        true);
  fails(cases, "ij,jk->ik", {a}, "einsum([2, 3] f32): \"ij,jk->ik\" has subscripts for 2 operands, not for 1", false);
  fails(cases, "ij", {a, b}, "einsum([2, 3] f32, [4, 5] f32): \"ij\" has subscripts for 1 operand, not for 2", false);
  fails(cases, "ijk->i", {a}, "einsum([2, 3] f32): operand 0 has shape [2, 3], but its subscripts name 3 axes", true);
  fails(cases, "i->i", {a}, "einsum([2, 3] f32): operand 0 has shape [2, 3], but its subscripts name 1 axis", true);
  fails(cases, "...ijk->i", {a},
        "einsum([2, 3] f32): operand 0 has shape [2, 3], but its subscripts name 3 axes beside '...'", true);
  fails(cases, "ij->ik", {a}, "einsum([2, 3] f32): label 'k' of the result is in no operand", false);
  fails(cases, "ij->ii", {a}, "einsum([2, 3] f32): label 'i' is twice in the result", false);
  fails(cases, "i1->i", {a}, "einsum([2, 3] f32): '1' is not a letter at position 1 of \"i1->i\"", false);
  fails(cases, "i..->i", {a}, "einsum([2, 3] f32): '.' that is no '...' at position 1 of \"i..->i\"", false);
  fails(cases, "......", {a}, "einsum([2, 3] f32): a second '...' of one operand at position 3 of \"......\"", false);
  fails(cases, "ij-i", {a}, "einsum([2, 3] f32): '-' where '->' is expected at position 2 of \"ij-i\"", false);
  fails(cases, "ij->i->j", {a},
        "einsum([2, 3] f32): '-' after the subscripts of the result at position 5 of \"ij->i->j\"", false);
  fails(cases, "ii", {a}, "einsum([2, 3] f32): label 'i' has sizes 2 and 3 in operand 0", true);
  fails(cases, "...,...->...", {a, ones({4, 3})},
        "einsum([2, 3] f32, [4, 3] f32): label '...' axis -2 has size 2 before and 4 in operand 1", true);
  fails(cases, "ij,jk->i,k", {a, b},
        "einsum([2, 3] f32, [4, 5] f32): ',' after the subscripts of the result at position 8 of \"ij,jk->i,k\"",
        false);
  fails(cases, "", {}, "einsum(): \"\" has subscripts for 1 operand, not for 0", false);
  fails(cases, "i", {Tensor()}, "einsum(): a tensor is undefined (default-constructed, or an absent gradient)", false);
}

}  // namespace

void add_einsum_cases(Cases& cases) {
  add(cases, "ij,ij->i", {{{16, 2}, {16, 2}}, {{17, 2}, {17, 1}}});
  add(cases, "ji,ij->i", {{{2, 16}, {16, 2}}});
  add(cases, "ibj,ijb->bi", {{{4, 2, 4}, {4, 4, 2}}});
  add(cases, "ij,jk->ik", {{{3, 4}, {4, 2}}, {{2, 0}, {0, 3}}, {{1, 5}, {5, 1}}, {{3, 1}, {4, 2}}});
  add(cases, "bij,bjk->bik", {{{2, 3, 4}, {2, 4, 2}}, {{1, 2, 3}, {4, 3, 2}}, {{0, 2, 3}, {0, 3, 2}}});
  add(cases, "ij->ji", {{{3, 4}}, {{0, 2}}});
  add(cases, "ij->", {{{3, 4}}, {{2, 0}}});
  add(cases, "ij->j", {{{3, 4}}});
  add(cases, "ii->i", {{{3, 3}}, {{0, 0}}});
  add(cases, "ii->", {{{3, 3}}, {{1, 1}}});
  add(cases, "iji->j", {{{3, 2, 3}}});
  add(cases, "i,i->", {{{4}, {4}}, {{0}, {0}}});
  add(cases, "i,j->ij", {{{4}, {3}}});
  add(cases, "i,i->i", {{{4}, {4}}, {{1}, {3}}});
  add(cases, "ij,ij->ij", {{{3, 2}, {3, 2}}});
  add(cases, "ij,kj->ik", {{{3, 2}, {4, 2}}});
  add(cases, "ij,k->jk", {{{3, 2}, {4}}});
  add(cases, "bhid,bhjd->bhij", {{{2, 2, 3, 4}, {2, 2, 2, 4}}});
  add(cases, "bhij,bhjd->bihd", {{{2, 2, 3, 4}, {2, 2, 4, 2}}});
  add(cases, "ij,jk,kl->il", {{{2, 3}, {3, 4}, {4, 2}}, {{2, 5}, {5, 1}, {1, 3}}});
  add(cases, "i,ij,j->", {{{3}, {3, 4}, {4}}});
  add(cases, "a,b,c,d->abcd", {{{2}, {3}, {1}, {2}}});
  add(cases, "ijk,jil,kl->", {{{2, 3, 2}, {3, 2, 4}, {2, 4}}});
  add(cases, "bii,bij->bj", {{{2, 3, 3}, {2, 3, 2}}});
  add(cases, "ab,bc,cd,de,ef,fg->ag", {{{2, 3}, {3, 1}, {1, 4}, {4, 2}, {2, 3}, {3, 2}}});
  add(cases, "ab,ac,ad,bcd,d,d,b->c", {{{2, 3}, {2, 2}, {2, 4}, {3, 2, 4}, {4}, {4}, {3}}});
  std::string many = "a";
  for (int i = 1; i < 12; ++i) many += ",a";
  add(cases, many + "->a", {std::vector<Shape>(12, Shape{3})});
  add(cases, ",ij->ji", {{{}, {2, 3}}});
  add(cases, "->", {{{}}});
  add(cases, "abcd,cdbe->ae", {{{2, 3, 2, 2}, {2, 2, 3, 2}}});
  add(cases, "ij,jk", "ij,jk->ik", {{{3, 4}, {4, 2}}});
  add(cases, "ba", "ba->ab", {{{3, 4}}});
  add(cases, "bA", "bA->Ab", {{{3, 4}}});
  add(cases, " i j , j k -> i k ", "ij,jk->ik", {{{3, 4}, {4, 2}}});
  add(cases, "...ij,...jk->...ik", "xij,xjk->xik", {{{2, 3, 4}, {2, 4, 2}}, {{1, 2, 3}, {2, 3, 2}}});
  add(cases, "...ij,jk", "xij,jk->xik", {{{2, 3, 4}, {4, 2}}});
  add(cases, "i...->...i", "ixy->xyi", {{{2, 3, 4}}});
  add(cases, "i...->i", "ixy->i", {{{2, 3, 4}}});
  add(cases, "...", "xy->xy", {{{2, 3}}});
  add(cases, "...,...->...", "xy,xy->xy", {{{2, 3}, {2, 3}}, {{2, 1}, {1, 3}}});
  add(cases, "i...,...->i...", "ixy,y->ixy", {{{2, 3, 4}, {4}}});
  cases
      .add("einsum of integers", {{integers({3, 4}, -3, 3), integers({4, 2}, -3, 3)}}, CALL(einsum("ij,jk->ki", x)),
           naive("ij,jk->ki"))
      .accepts(kNumbers)
      .loose(0);
  add_dtypes(cases);
  add_errors(cases);
}

}  // namespace weft::testing
