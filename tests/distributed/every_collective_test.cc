// The table of collectives: each in every dtype and memory order, blocking and asynchronous.
#include <functional>

#include "tests/distributed/ranks.h"

namespace weft::test {
namespace {

using distributed::ReduceOp;

/// Memory orders of the same values.
struct Order {
  const char* name;
  std::function<Tensor(const Shape&, DType)> room;  // an axis of size 1 or more each
};

const std::vector<Order>& orders() {
  static const std::vector<Order> all = {
      {"row-major", [](const Shape& s, DType t) { return zeros(s, t); }},
      {"transposed",
       [](const Shape& s, DType t) {
         return zeros({s[3], s[2], s[1], s[0]}, t).permute({3, 2, 1, 0});
       }},
      {"channels last",
       [](const Shape& s, DType t) {
         return zeros({s[0], s[2], s[3], s[1]}, t).permute({0, 3, 1, 2});
       }},
      {"with an offset",
       [](const Shape& s, DType t) {
         return zeros({s[0] + 3, s[1], s[2], s[3]}, t).narrow(0, 2, s[0]);
       }},
      {"backwards",
       [](const Shape& s, DType t) {
         return zeros(s, t).flip({0, 3});
       }},
      {"with gaps",
       [](const Shape& s, DType t) {
         return zeros({s[0], s[1], s[2], 2 * s[3]}, t).slice(3, 1, 2 * s[3], 2);
       }},
  };
  return all;
}

/// One collective: what it leaves on rank `rank` of what all ranks hold, in f64 (undefined: no result), and the call.
struct Row {
  const char* name;
  std::function<bool(DType)> takes;
  std::function<Tensor(const std::vector<Tensor>& all, int64_t rank)> expected;
  std::function<Tensor(const distributed::Group&g, const Tensor&x)> blocking, asynchronous;  // null: there is none
};

bool takes_all(DType) { return true; }
bool takes_numbers(DType dtype) { return dtype != boolean; }

Row reduction(const char* name, ReduceOp op, std::function<bool(DType)> takes) {
  return {name, std::move(takes), [op](const auto& all, int64_t) { return reduced(all, op); },
          [op](const auto& g, const Tensor& x) { return g.all_reduce(x, op), x; },
          [op](const auto& g, const Tensor& x) { return g.all_reduce_async(x, op).wait(), x; }};
}

Row scattered(const char* name, ReduceOp op, std::function<bool(DType)> takes) {
  return {name, std::move(takes),
          [op](const auto& all, int64_t rank) { return reduced(all, op).chunk(int64_t(all.size()), 0)[size_t(rank)]; },
          [op](const auto& g, const Tensor& x) { return g.reduce_scatter(x, op); },
          [op](const auto& g, const Tensor& x) { return g.reduce_scatter_async(x, op).wait(); }};
}

/// reduce() to the last rank; the others keep what they have.
Row reduction_to_one(const char* name, ReduceOp op, std::function<bool(DType)> takes) {
  return {name, std::move(takes),
          [op](const auto& all, int64_t rank) {
            return rank + 1 == int64_t(all.size()) ? reduced(all, op) : all[size_t(rank)];
          },
          [op](const auto& g, const Tensor& x) { return g.reduce(x, g.size() - 1, op), x; },
          [op](const auto& g, const Tensor& x) { return g.reduce_async(x, g.size() - 1, op).wait(), x; }};
}

/// Calls with a root, which is the last rank.
std::vector<Row> rooted_rows() {
  return {
      reduction_to_one("reduce sum", ReduceOp::sum, takes_numbers),
      reduction_to_one("reduce mean", ReduceOp::mean, is_floating),
      reduction_to_one("reduce max", ReduceOp::max, takes_all),
      reduction_to_one("reduce min", ReduceOp::min, takes_all),
      {"broadcast", takes_all, [](const auto& all, int64_t) { return all.back(); },
       [](const auto& g, const Tensor& x) { return g.broadcast(x, g.size() - 1), x; },
       [](const auto& g, const Tensor& x) { return g.broadcast_async(x, g.size() - 1).wait(), x; }},
      {"gather", takes_all,
       [](const auto& all, int64_t rank) { return rank + 1 == int64_t(all.size()) ? stack(all) : Tensor(); },
       [](const auto& g, const Tensor& x) { return g.gather(x, g.size() - 1); },
       [](const auto& g, const Tensor& x) { return g.gather_async(x, g.size() - 1).wait(); }},
      {"scatter", takes_all,
       [](const auto& all, int64_t rank) { return all.back().chunk(int64_t(all.size()), 0)[size_t(rank)]; },
       [](const auto& g, const Tensor& x) { return g.scatter(x, g.size() - 1); },
       [](const auto& g, const Tensor& x) { return g.scatter_async(x, g.size() - 1).wait(); }},
  };
}

std::vector<Row> rows() {
  std::vector<Row> out = {
      reduction("all_reduce sum", ReduceOp::sum, takes_numbers),
      reduction("all_reduce mean", ReduceOp::mean, is_floating),
      reduction("all_reduce max", ReduceOp::max, takes_all),
      reduction("all_reduce min", ReduceOp::min, takes_all),
      scattered("reduce_scatter sum", ReduceOp::sum, takes_numbers),
      scattered("reduce_scatter mean", ReduceOp::mean, is_floating),
      scattered("reduce_scatter max", ReduceOp::max, takes_all),
      scattered("reduce_scatter min", ReduceOp::min, takes_all),
      {"all_gather", takes_all, [](const auto& all, int64_t) { return stack(all); },
       [](const auto& g, const Tensor& x) { return g.all_gather(x); },
       [](const auto& g, const Tensor& x) { return g.all_gather_async(x).wait(); }},
      {"all_to_all", takes_all,
       [](const auto& all, int64_t rank) {
         std::vector<Tensor> parts;
         for (const Tensor& x : all) parts.push_back(x.chunk(int64_t(all.size()), 0)[size_t(rank)]);
         return cat(parts);
       },
       [](const auto& g, const Tensor& x) { return g.all_to_all(x); },
       [](const auto& g, const Tensor& x) { return g.all_to_all_async(x).wait(); }},
      {"all_gather_rows", takes_all, [](const auto& all, int64_t) { return cat(all); },
       [](const auto& g, const Tensor& x) { return g.all_gather_rows(x); }, nullptr},
  };
  for (Row& row : rooted_rows()) out.push_back(std::move(row));
  if (group().size() == 1) return out;
  // Around a ring, in which x is sent and then written to.
  out.push_back({"send and recv", takes_all,
                 [](const auto& all, int64_t rank) { return all[size_t(rank + int64_t(all.size()) - 1) % all.size()]; },
                 [](const auto& g, const Tensor& x) {
                   const int64_t next = (g.rank() + 1) % g.size(), before = (g.rank() + g.size() - 1) % g.size();
                   if (g.rank() == 0) g.send(x, next, 7);
                   const Tensor own = x.clone();
                   g.recv(x, before, 7);
                   if (g.rank() != 0) g.send(own, next, 7);
                   return x;
                 },
                 [](const auto& g, const Tensor& x) {
                   const int64_t next = (g.rank() + 1) % g.size(), before = (g.rank() + g.size() - 1) % g.size();
                   const Tensor own = x.clone();
                   auto sent = g.send_async(own, next), received = g.recv_async(x, before);
                   return received.wait(), sent.wait(), x;
                 }});
  return out;
}

TEST(EveryCollective, DtypesAndMemoryOrders) {
  const auto& g = group();
  const Shape shape = {2 * g.size(), 3, 2, 5};
  int64_t compared = 0;
  for (const Row& row : rows())
    for (const DType dtype : {f32, f64, bf16, f16, i64, i32, i16, i8, u8, boolean}) {
      if (!row.takes(dtype)) {
        EXPECT_THROW((void)row.blocking(g, zeros(shape, dtype)), DtypeError) << row.name << text(dtype);
        EXPECT_THROW((void)row.asynchronous(g, zeros(shape, dtype)), DtypeError) << row.name << text(dtype);
        continue;
      }
      std::vector<Tensor> all;
      for (int64_t rank = 0; rank < g.size(); ++rank) all.push_back(values(rank, shape, dtype).to(f64));
      const Tensor expected = row.expected(all, g.rank());
      for (size_t order = 0; order < orders().size(); ++order)
        for (const bool blocks : {true, false}) {
          if (!blocks && !row.asynchronous) continue;
          // Ranks differ in their orders.
          const Order& own = orders()[(order + size_t(g.rank())) % orders().size()];
          const Tensor x = Tensor(own.room(shape, dtype)).copy_(values(g.rank(), shape, dtype));
          const Tensor y = (blocks ? row.blocking : row.asynchronous)(g, x);
          ++compared;
          ASSERT_EQ(y.defined(), expected.defined()) << row.name;
          if (!y.defined()) continue;
          EXPECT_EQ(y.dtype(), dtype);
          EXPECT_TRUE(equal(y.to(f64), expected))
              << row.name << " of " << text(dtype) << ' ' << own.name << (blocks ? "" : ", asynchronous");
        }
    }
  EXPECT_GT(compared, 1000);
}

}  // namespace
}  // namespace weft::test
