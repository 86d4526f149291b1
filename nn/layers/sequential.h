// Sequential: runs layers one after the other.
#pragma once

#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "nn/layers/batch_norm.h"
#include "nn/layers/flatten.h"
#include "nn/module/layer.h"
#include "tensor/core/owned.h"

namespace weft::nn {

/// A function of a tensor that is not a module: `[](const Tensor& x) { return x * 2.0; }`.
template <class F>
concept TensorFunction = !std::derived_from<F, Module> && requires(const F& f, const Tensor& x) {
  { f(x) } -> std::convertible_to<Tensor>;
};
template <class M>
concept SequentialStep = HasForward<M> || TensorFunction<M>;

/// A batch norm whose forward() and forward_relu() are defined by the same class. A derived class that overrides
/// forward() is not fused; it runs like any other layer.
template <class M>
concept FusibleNorm = std::derived_from<M, BatchNorm> && requires {
  requires std::same_as<decltype(&M::forward), decltype(&M::forward_relu)>;
};

/// Runs modules with `Tensor forward(const Tensor&)`, or functions, one after the other. Their names are "0", "1", ...
/// unless given: `Sequential net(Linear(784, 128), ReLU(), Linear(128, 10));` Some layers are fused. A batch norm, a
/// following ReLU and a following MaxPool2d run as one op, and observers still see all the layers. In evaluation and
/// without history, a Conv2d, its BatchNorm2d and a following ReLU run as one op, unless an observer needs separate
/// ops.
class Sequential : public Layer<Sequential> {
 public:
  template <SequentialStep... Ms> explicit Sequential(Ms... modules) { (push_back(std::move(modules)), ...); }
  template <class... Ms>
    requires(!(SequentialStep<Ms> && ...))
  explicit Sequential(Ms...) = delete;  // a step has a public Tensor forward(const Tensor&), or is a function of one

  template <SequentialStep M> void push_back(M module) { push_back(std::to_string(steps_.size()), std::move(module)); }
  template <TensorFunction F> void push_back(const std::string& name, F f) { push_back(name, Lambda(std::move(f))); }
  template <HasForward M> void push_back(const std::string& name, M module) {
    auto* const step = new StepOf<M>(name, std::move(module));
    Owned<Step> owner(step);
    detail::make_room(steps_);
    register_module(name, step->module);
    steps_.push_back(std::move(owner));
  }

  /// Puts a module or function in front of step `index`, or behind the last one where that is size(). Names that are
  /// numbers follow the new places. IndexError if `index` is out of range, Error if a name is taken. An optimizer that
  /// exists does not know the new parameters.
  template <SequentialStep M> void insert(size_t index, M module) {
    insert(index, std::to_string(size()), std::move(module));
  }
  template <SequentialStep M> void insert(size_t index, const std::string& name, M module) {
    check_place(index);
    std::vector<detail::Renamed> names = with_last_at(index, name);
    push_back(name, std::move(module));
    move_last(index, std::move(names));
  }
  /// Removes a step; names of the later ones that are numbers follow. IndexError if `index` is out of range,
  /// Error if a step before them has such a name.
  void erase(size_t index) { (void)take(index); }
  /// The same, and returns the module, which must have type M and belongs to no module then:
  /// `nn::Linear head = net.pop<nn::Linear>(2);`
  template <class M> M pop(size_t index) {
    M& found = at<M>(index);
    const Owned<Step> step = take(index);
    return M(std::move(found));
  }
  /// Appends the steps of another one, as in `net.extend(std::move(tail))`. Names that are numbers become those of the
  /// new places. Error if one of the names is taken, or for this Sequential itself; then nothing has changed.
  void extend(Sequential&& other);

  Tensor forward(const Tensor& x) const;
  /// Runs only the modules `first` .. `last` - 1, as for the features that layers in the middle compute. IndexError
  /// unless first <= last <= size().
  Tensor forward(const Tensor& x, size_t first, size_t last) const;
  /// Error if a step has neither remake() nor a default constructor.
  Sequential remake() const;
  size_t size() const { return steps_.size(); }
  /// The module at `index`, which must have type M: `net.at<nn::Linear>(0).weight()`. Error if it has another type,
  /// IndexError if `index` is out of range.
  template <class M> M& at(size_t index) const {
    check_index(index);
    auto* step = dynamic_cast<StepOf<M>*>(steps_[index].get());
    if (step == nullptr)
      throw Error(text("module ", index, " of this Sequential is a ", steps_[index]->layer().type_name(),
                       ", not of the type asked for"));
    return step->module;
  }

 private:
  /// How forward() may fuse a module with the layers after it: only a batch norm whose forward() is not overridden.
  enum class Fusible { no, batch_norm, batch_norm2d };
  template <class M> static constexpr Fusible fusible() {
    if constexpr (!FusibleNorm<M>)
      return Fusible::no;
    else
      return std::same_as<decltype(&M::forward), decltype(&BatchNorm2d::forward)> && std::derived_from<M, BatchNorm2d>
                 ? Fusible::batch_norm2d
                 : Fusible::batch_norm;
  }

  struct Step {
    Step(std::string its_name, Fusible its_fusion) : name(std::move(its_name)), fusion(its_fusion) {}
    virtual ~Step() = default;
    virtual Module& layer() = 0;
    virtual const Module& layer() const = 0;
    virtual Tensor run(const Tensor& x) = 0;
    /// Reports to observers that this step, fused into the previous one, returned `y`.
    virtual void announce(const Tensor& y) = 0;
    /// Appends a step like this one.
    virtual void remake(Sequential& out) const = 0;
    /// The layer, if its type is exactly M; else null.
    template <class M> const M* exactly() const {
      const Module& module = layer();
      return typeid(module) == typeid(M) ? static_cast<const M*>(&module) : nullptr;
    }
    const BatchNorm* batch_norm() const {
      return fusion == Fusible::no ? nullptr : static_cast<const BatchNorm*>(&layer());
    }
    const BatchNorm2d* batch_norm2d() const {
      return fusion == Fusible::batch_norm2d ? static_cast<const BatchNorm2d*>(&layer()) : nullptr;
    }
    std::string name;
    Fusible fusion;
  };
  template <class M> struct StepOf final : Step {
    StepOf(std::string its_name, M m) : Step(std::move(its_name), fusible<M>()), module(std::move(m)) {}
    Module& layer() override { return module; }
    const Module& layer() const override { return module; }
    Tensor run(const Tensor& x) override { return run_layer(module, x); }
    void announce(const Tensor& y) override {
      (void)in_layer(
          module, [](const Tensor& given) { return given; }, y);
    }
    void remake(Sequential& out) const override {
      if constexpr (Clonable<M>)
        out.push_back(name, detail::remade(module));
      else
        throw Error(
            text("step `", name, "` (", module.type_name(), ") has neither remake() nor a default constructor"));
    }
    M module;
  };

  void check_index(size_t index) const;
  void check_place(size_t index) const;
  /// The names of steps begin .. end - 1, and those that they get `shift` places further.
  std::vector<detail::Renamed> renumbered(size_t begin, size_t end, int shift) const;
  /// The same after a step `name`, which is to come behind the others, moved to `index`.
  std::vector<detail::Renamed> with_last_at(size_t index, const std::string& name) const;
  /// Moves the last step to `index`, or removes it and throws.
  void move_last(size_t index, std::vector<detail::Renamed> names);
  Owned<Step> take(size_t index);

  /// Whether step `index` is before `last` and exactly an M.
  template <class M> bool is_layer(size_t index, size_t last) const {
    return index < last && steps_[index]->template exactly<M>() != nullptr;
  }
  /// The number of steps before `last`, starting at `index`, that run as one op.
  size_t fused_steps(size_t index, size_t last) const;
  /// The number of steps to fuse for a convolution at `index` with its batch norm and ReLU; 0 if they are not fused.
  size_t conv_norm_steps(size_t index, size_t last, const Tensor& x) const;

  std::vector<Owned<Step>> steps_;
};

/// model(x), where the modules are divided into `segments` parts of equal length (the last has what is left over), and
/// all parts but the last run in autograd::checkpoint(): only their inputs are kept for backward, which runs them
/// again. The model must exist until then. Error unless 1 <= segments <= model.size().
Tensor checkpoint_sequential(const Sequential& model, int64_t segments, const Tensor& x);

}  // namespace weft::nn
