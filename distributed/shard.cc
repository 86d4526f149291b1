#include "distributed/shard.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <sstream>

#include "autograd/grad_mode.h"
#include "distributed/broadcast_all.h"
#include "distributed/data_parallel/same.h"
#include "distributed/texts.h"
#include "optim/lbfgs.h"
#include "tensor/functions/fill.h"

namespace weft::distributed {
namespace {

/// The rank that each parameter belongs to.
std::vector<int64_t> owners_of(const std::vector<Tensor>& parameters, int64_t ranks) {
  std::vector<size_t> order(parameters.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return parameters[a].numel() > parameters[b].numel(); });
  std::vector<int64_t> owners(parameters.size()), load(static_cast<size_t>(ranks));
  for (const size_t i : order) {
    const auto least = std::min_element(load.begin(), load.end());
    owners[i] = least - load.begin();
    *least += parameters[i].numel();
  }
  return owners;
}

constexpr const char* kTensor = "tensor";
constexpr const char* kNumber = "number";

/// A line for each tensor of a state, `tensor DTYPE AXES SIZES... LENGTH KEY`, and each number, `number BITS LENGTH
/// KEY`.
std::string lines_of(const optim::State& state) {
  std::ostringstream out;
  for (const auto& [key, tensor] : state.tensors) {
    out << kTensor << ' ' << static_cast<int>(tensor.dtype()) << ' ' << tensor.rank();
    for (const int64_t n : tensor.shape()) out << ' ' << n;
    out << ' ' << key.size() << ' ' << key << '\n';
  }
  for (const auto& [key, number] : state.numbers)
    out << kNumber << ' ' << std::bit_cast<int64_t>(number) << ' ' << key.size() << ' ' << key << '\n';
  return out.str();
}

/// The LENGTH and the KEY of a line: any name, also of spaces.
std::string read_key(std::istream& in) {
  size_t length = 0;
  in >> length;
  std::string key(length, '\0');
  in.ignore(1).read(key.data(), static_cast<std::streamsize>(length));
  return key;
}

/// Makes one rank's lines part of `state`: its numbers, and room for its tensors that are not here. Returns the tensors
/// of the lines, in their order.
std::vector<Tensor> read_lines(const std::string& lines, optim::State& state) {
  std::vector<Tensor> tensors;
  std::istringstream in(lines);
  for (std::string kind; in >> kind;) {
    if (kind == kNumber) {
      int64_t bits = 0;
      in >> bits;
      state.numbers[read_key(in)] = std::bit_cast<double>(bits);
      continue;
    }
    int dtype = 0, axes = 0;
    in >> dtype >> axes;
    Shape shape = IntList::filled(static_cast<size_t>(axes), 0);
    for (int64_t& n : shape) in >> n;
    const std::string key = read_key(in);
    if (!state.tensors.contains(key)) state.tensors[key] = empty(shape, static_cast<DType>(dtype));
    tensors.push_back(state.tensors[key]);
  }
  return tensors;
}

}  // namespace

void shard(optim::Optimizer& optimizer, const Group& group) {
  if (dynamic_cast<const optim::LBFGS*>(&optimizer) != nullptr)
    throw Error("shard: LBFGS keeps vectors of all parameters together, which are not divided; leave it whole");
  if (group.size() == 1) return;
  const std::vector<Tensor> parameters = optimizer.parameters();
  std::string lines;
  for (const Tensor& p : parameters) lines += text(p.name(), " ", p.shape(), " ", p.dtype(), "\n");
  require_same(group, lines, "shard: the optimizers' parameters differ");
  const std::vector<int64_t> owners = owners_of(parameters, group.size());
  optim::Sharing sharing;
  for (const int64_t owner : owners) sharing.mine.push_back(owner == group.rank());
  sharing.after_step = [=] {
    NoGrad guard;
    broadcast_all(group, parameters, owners);
  };
  sharing.complete = [=](optim::State& state) {
    NoGrad guard;
    const auto texts = gather_texts(group, lines_of(state));
    std::vector<Tensor> tensors;
    std::vector<int64_t> roots;
    for (size_t owner = 0; owner < texts.size(); ++owner) {
      for (Tensor& tensor : read_lines(texts[owner], state)) tensors.push_back(std::move(tensor));
      roots.resize(tensors.size(), static_cast<int64_t>(owner));
    }
    broadcast_all(group, tensors, roots);
  };
  optimizer.share(std::move(sharing));
}

}  // namespace weft::distributed
